#include "crash/service_pair.hpp"

#include <csignal>
#include <fstream>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "crash/chain.hpp"
#include "crash/pair_words.hpp"
#include "support/eventually.hpp"
#include "support/planted_program.hpp"

namespace posthorn::crash {
namespace {

constexpr auto pending_sql = "SELECT count(*) FROM outbox_messages WHERE status = 'Pending'";

struct link {
    std::string life;
    std::int64_t n = 0;
    auto operator<=>(const link&) const = default;
};
using links = std::multimap<link, std::string>;

links read_links(test::sqlite_file& from, const std::string& table) {
    links found;
    const auto all = from.lines("SELECT life || ' ' || n || ' ' || hash FROM " + table);
    for (std::size_t at = 0, end = 0; (end = all.find('\n', at)) != std::string::npos;
         at = end + 1) {
        const auto line = all.substr(at, end - at);
        const auto first = line.find(' '), second = line.find(' ', first + 1);
        found.emplace(link{line.substr(0, first), std::stoll(line.substr(first + 1))},
                      line.substr(second + 1));
    }
    return found;
}

std::string broken_chain(const links& chain) {
    std::string before, life;
    std::int64_t n = 0;
    for (const auto& [one, hash] : chain) {
        if (one.life != life) life = one.life, n = 0, before.clear();
        before = link_hash(++n, life + before);
        if (one.n != n || hash != before)
            return fmt::format("the chain of life {} breaks at link {}\n", life, n);
    }
    return {};
}

}  // namespace

service_pair::service_pair(place of_left, place of_right)
    : nodes_{{.name = "left", .where = std::move(of_left)},
             {.name = "right", .where = std::move(of_right)}} {
    configure(nodes_[left], nodes_[right]);
    configure(nodes_[right], nodes_[left]);
}

void service_pair::configure(node& one, const node& peer) const {
    one.config = common_.file(one.name + ".toml");
    std::ofstream(one.config) << fmt::format(
        "[service]\nid = \"{0}\"\n"
        "[store]\nurl = \"sqlite:{1}/{0}.db\"\n{2}"
        "[listen]\nhttp = \"\"\nadmin = \"\"\nunix = \"{3}/{0}-run/socket\"\n"
        "[routes]\n{4} = \"unix://{3}/{4}-run/socket\"\n"
        "[secrets]\n{4} = \"base64:{5}\"\n"
        "[outbox]\nmax_retries = -1\nretry_delay_base = \"20ms\"\nretry_delay_max = \"200ms\"\n"
        "jitter_max = \"5ms\"\n"
        "[log]\nlevel = \"debug\"\n",
        one.name, one.where.folder, one.where.store_lines, common_.path().string(), peer.name,
        canary_secret);
}

void service_pair::start(side which) {
    auto& one = nodes_[which];
    one.process = std::make_unique<test::process>(
        std::vector<std::string>{test::planted_or(POSTHORN_PAIR_NODE), one.config,
                                 nodes_[other(which)].name, std::to_string(one.life)});
    await(which, {"start"});
}

void service_pair::put_away(node& one) {
    one.said += one.process->err();
    one.process.reset();
    one.lines.clear();
}

std::string service_pair::log_of(const node& one) const {
    std::ifstream file(one.config + ".log");
    return {std::istreambuf_iterator<char>(file), {}};
}

void service_pair::give_up(const node& one, const std::string& why) const {
    constexpr std::size_t tail = 3000;
    const auto log = log_of(one);
    throw std::runtime_error(one.name + ": " + why + "\n" + one.said +
                             (one.process ? one.process->err() : "") +
                             log.substr(log.size() - std::min(log.size(), tail)));
}

void service_pair::kill(side which) {
    auto& one = nodes_[which];
    one.process->send_signal(SIGKILL);
    if (one.process->wait() != test::process_end{-1, SIGKILL})
        give_up(one, "ended before it was killed");
    read_all();
    put_away(one);
}

void service_pair::stop(side which) {
    auto& one = nodes_[which];
    one.process->send_signal(SIGTERM);
    if (const auto end = one.process->wait(); end != test::process_end{0, 0})
        give_up(one,
                end ? fmt::format("ended with code {} and signal {}", end->exit_code, end->signal)
                    : "does not end");
    put_away(one);
}

void service_pair::quiet(side which) {
    nodes_[which].process->send_signal(SIGUSR1);
    await(which, {"quiet"});
}

void service_pair::read_all() {
    for (auto& one : nodes_) {
        if (!one.process) continue;
        while (auto line = one.process->read_line(std::chrono::milliseconds(1))) {
            constexpr std::string_view begin = "committed ";
            if (line->starts_with(begin))
                one.promised =
                    std::max<std::int64_t>(one.promised, std::stoll(line->substr(begin.size())));
            one.lines.push_back(*std::move(line));
        }
    }
}

void service_pair::await(side which, std::vector<std::string> beginnings) {
    auto& one = nodes_[which];
    const auto came = [&] {
        read_all();
        while (!one.lines.empty()) {
            const auto said = std::move(one.lines.front());
            one.lines.pop_front();
            std::erase_if(beginnings, [&](const auto& each) { return said.starts_with(each); });
            if (beginnings.empty()) return true;
        }
        if (const auto end = one.process->wait(std::chrono::milliseconds(0)))
            give_up(one, fmt::format("ended by itself, with code {} and signal {}", end->exit_code,
                                     end->signal));
        return false;
    };
    if (!test::eventually(came)) give_up(one, "never said '" + beginnings.front() + "'");
}

void service_pair::await_commits(side which, std::uint64_t more) {
    for (std::uint64_t i = 0; i < more; ++i) await(which, {"committed "});
}

void service_pair::await_drained() {
    for (const auto which : {left, right}) {
        auto file = database(which);
        // A busy machine is slow with messages that go one after the other; but it goes on.
        for (auto left = file.integer(pending_sql); left > 0;) {
            const auto before = left;
            const auto fewer = [&] {
                read_all();
                return (left = file.integer(pending_sql)) < before;
            };
            if (!test::eventually(fewer))
                give_up(nodes_[which], fmt::format("{} are still pending", left));
        }
    }
}

std::string service_pair::command(side which, std::vector<std::string> words) {
    auto& one = nodes_[which];
    words.insert(words.begin(),
                 test::is_to_be_planted() ? POSTHORN_PLANTED_PROGRAM : POSTHORN_PROGRAM);
    words.insert(words.end(), {"--config", one.config});
    const auto ran = test::run_process(words);
    one.said += ran.out + ran.err;
    if (ran.end != test::process_end{0, 0}) give_up(one, words[1] + " failed: " + ran.err);
    if (words[1] == "restore") ++one.life, one.promised = 0;
    return ran.out;
}

std::string service_pair::database_file(side which) const {
    return nodes_[which].where.folder + "/" + nodes_[which].name + ".db";
}
test::sqlite_file service_pair::database(side which) const {
    return test::sqlite_file(database_file(which));
}

std::uint64_t service_pair::link_count(side which) const {
    return static_cast<std::uint64_t>(database(which).integer("SELECT count(*) FROM chain"));
}

std::string service_pair::disorder(side from) {
    auto receiver = database(other(from));
    const auto early = receiver.integer(
        fmt::format("SELECT count(*) FROM (SELECT n, max(n) OVER (PARTITION BY life, n % {0} ORDER"
                    " BY rowid) AS highest FROM effects WHERE n % {0} <> 0) WHERE n < highest",
                    keys_and_none));
    return early == 0 ? "" : fmt::format("{} links came after a later one of their key\n", early);
}

std::string service_pair::faults(side from, const std::string& before) {
    auto sender = database(from);
    auto receiver = database(other(from));
    const auto chain = read_links(sender, "chain");
    const auto effects = read_links(receiver, "effects");
    auto found = broken_chain(chain);
    const auto last = sender.integer(
        fmt::format("SELECT max(n) FROM chain WHERE life = '{}'", nodes_[from].life));
    if (last < promised(from))
        found += fmt::format("link {} was promised, {} is the last\n", promised(from), last);
    links allowed = chain;
    if (!before.empty()) {
        test::sqlite_file old(before);
        for (const auto& one : read_links(old, "chain"))
            if (!chain.contains(one.first)) allowed.insert(one);
    }
    for (const auto& [one, hash] : chain)
        if (!effects.contains(one))
            found += fmt::format("link {} of life {} has no effect\n", one.n, one.life);
    for (const auto& [one, hash] : effects) {
        if (effects.count(one) > 1)
            found += fmt::format("link {} of life {} took effect twice\n", one.n, one.life);
        if (const auto sent = allowed.find(one); sent == allowed.end() || sent->second != hash)
            found += fmt::format("link {} of life {} was never sent so\n", one.n, one.life);
    }
    const auto count = static_cast<std::int64_t>(effects.size());
    if (sender.integer("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'") !=
            static_cast<std::int64_t>(chain.size()) ||
        sender.integer("SELECT count(*) FROM outbox_messages") !=
            static_cast<std::int64_t>(chain.size()))
        found += "not every link is one message that was sent\n";
    if (receiver.integer("SELECT count(*) FROM inbox_messages") != count)
        found += "the inbox does not hold what took effect\n";
    if (receiver.integer("SELECT count(*) FROM effects JOIN inbox_messages USING (message_id)"
                         " WHERE response_payload = receipt") != count)
        found += "an answer is not the one that was given first\n";
    for (auto* const each : {&sender, &receiver})
        if (each->text("PRAGMA integrity_check") != "ok") found += "a database is damaged\n";
    return found;
}

std::string service_pair::leaks() const {
    std::string found;
    for (const auto& one : nodes_) {
        const auto all =
            log_of(one) + one.said + (one.process ? one.process->out() + one.process->err() : "");
        for (const auto* const canary : {canary_payload, canary_secret, canary_secret_bytes})
            if (all.contains(canary)) found += one.name + " tells " + canary + "\n";
    }
    return found;
}

}  // namespace posthorn::crash
