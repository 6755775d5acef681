#include "crash/corruption_case.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <posthorn/node.hpp>

#include "base/checksum.hpp"
#include "base/time/clock.hpp"
#include "crash/pair_words.hpp"
#include "store/sqlite/upkeep/backup.hpp"
#include "store/sqlite/upkeep/restore.hpp"
#include "support/eventually.hpp"
#include "support/sqlite_file.hpp"

namespace posthorn::crash {
namespace {

using namespace std::chrono_literals;

constexpr int messages_each = 20;

/// What the inbox keeps to know a response by.
std::int64_t checksum_of(std::string_view response) {
    checksum sum;
    sum.add(response);
    return sum.value();
}

/// Two services in one process, and all that was seen of them.
class damaged_pair {
public:
    explicit damaged_pair(std::string folder) : folder_(std::move(folder)) {}

    node& open_target() {
        target_ = std::make_unique<node>(options("target"));
        target_->transact([](transaction& tx) {
            tx.execute("CREATE TABLE IF NOT EXISTS effects (message_id TEXT, receipt TEXT)");
        });
        target_->handle("Link", [this](context& c, const message& m) { return take(c, m); });
        target_->start();
        return *target_;
    }
    node& open_source() {
        source_ = std::make_unique<node>(options("source"));
        source_->start();
        return *source_;
    }
    void close() {
        source_.reset();
        target_.reset();
    }
    /// Until nothing is pending, or damage was told of; false if neither comes.
    bool drain() {
        return test::eventually([&] { return told() || source_->stats().pending == 0; }, 15s);
    }
    [[nodiscard]] bool told() {
        const std::scoped_lock lock(mutex_);
        return log_.contains("store_corrupt");
    }
    [[nodiscard]] std::string log() {
        const std::scoped_lock lock(mutex_);
        return log_;
    }
    [[nodiscard]] std::map<std::string, std::string> delivered() {
        const std::scoped_lock lock(mutex_);
        return delivered_;
    }

private:
    // Without a ballast: making one for each case would take longer than all the rest.
    configuration options(const std::string& service) {
        const auto file = folder_ + "/" + service + ".toml";
        std::ofstream(file) << "[service]\nid = \"" << service
                            << "\"\n[store]\nurl = \"sqlite:" << service
                            << ".db\"\ndisk_low_water = 0\nballast = 0\n"
                            << "[listen]\nhttp = \"\"\nadmin = \"\"\n"
                            << "[routes]\ntarget = \"inprocess:\"\n";
        auto from = load(file);
        auto& made = from.options;
        made.retry = {.retries_max = 20,
                      .backoff = exponential_backoff{.base = 5ms, .max = 20ms, .jitter_max = 1ms}};
        made.log_level = "info";
        made.log_sink = [this](std::string_view line) {
            const std::scoped_lock lock(mutex_);
            log_.append(line).append("\n");
        };
        return from;
    }
    std::string take(context& c, const message& m) {
        const auto id = m.id.to_string();
        auto receipt =
            c.query_value<std::string>("SELECT 'receipt ' || hex(randomblob(8))").value();
        c.execute("INSERT INTO effects VALUES (?, ?)", id, receipt);
        const std::scoped_lock lock(mutex_);
        delivered_[id] = m.payload;
        return receipt;
    }

    std::string folder_;
    std::mutex mutex_;
    std::string log_;
    std::map<std::string, std::string> delivered_;
    std::unique_ptr<node> target_;
    std::unique_ptr<node> source_;
};

void send_links(node& from, int first) {
    from.transact([&](transaction& tx) {
        for (int n = first; n < first + messages_each; ++n) {
            // A few are too long for one page.
            const std::string rest(n % 7 == 0 ? 6000 : 200, static_cast<char>('a' + n % 26));
            tx.send("target", "Link",
                    fmt::format(R"({{"n":{},"canary":"{}","rest":"{}"}})", n, canary_payload, rest),
                    {.correlation_id = fmt::format("correlation {}", n)});
        }
    });
}

void back_up(const std::string& folder, const std::string& service) {
    const auto made =
        sqlite::back_up_as(folder + "/" + service + "-backup.db",
                           {.database = folder + "/" + service + ".db"}, real_clock{});
    if (!made) throw made.error();
}

void build(const std::string& folder) {
    {
        damaged_pair first(folder);
        first.open_target();
        send_links(first.open_source(), 0);
        if (!first.drain()) throw std::runtime_error("the first do not arrive");
        first.close();  // Into the databases themselves.
    }
    // From here on in the logs.
    auto* const second = new damaged_pair(folder);
    auto& target = second->open_target();
    auto& source = second->open_source();
    send_links(source, messages_each);
    if (!second->drain()) throw std::runtime_error("the second do not arrive");
    target.stop();
    source.transact([](transaction& tx) {
        tx.execute(
            "UPDATE outbox_messages SET status = 'Pending', sent_at = NULL WHERE seq % 3 = 0");
    });
    send_links(source, 2 * messages_each);
    for (const auto* const each : {"source", "target"}) back_up(folder, each);
    ::_exit(0);  // As a killed one: nothing is put in order.
}

/// What both sides hold in the end, against what they held before.
class comparison {
public:
    comparison(std::string folder, const held& before, const damaged_place& where)
        : folder_(std::move(folder)), before_(before), where_(where) {}

    /// Whatever else is found, none of this may be.
    std::string wrong_deliveries(const std::map<std::string, std::string>& delivered) {
        std::string found;
        const bool may_repeat = where_.in_log && where_.service == "target";
        for (const auto& [id, payload] : delivered) {
            const auto sent = before_.messages.find(id);
            if (sent == before_.messages.end())
                found += id + " was never sent\n";
            else if (sent->second.payload != payload)
                found += id + " came altered\n";
            else if (!sent->second.receipt.empty() && !may_repeat)
                found += id + " took effect twice\n";
            else if (!sent->second.receipt.empty())
                repeated_.insert(id);
        }
        return found;
    }
    std::string wrong_rows() {
        test::sqlite_file source(folder_ + "/source.db"), target(folder_ + "/target.db");
        std::string found;
        for (const auto& [id, sent] : before_.messages) {
            const auto of = " WHERE message_id = '" + id + "'";
            const auto status = source.text("SELECT status FROM outbox_messages" + of);
            if (status == "Dead")
                ++dead_;
            else if (status.empty())
                ++gone_[sent.transaction];
            else if (status != "Sent")
                found += fmt::format("{} is '{}'\n", id, status);
            const auto effects = target.integer("SELECT count(*) FROM effects" + of);
            if (!where_.in_own_rows &&
                (effects > 1 || (effects == 0 && (status == "Sent" || !sent.receipt.empty()))))
                found += fmt::format("{} has {} effects\n", id, effects);
            const auto answer = target.text("SELECT response_payload FROM inbox_messages" + of);
            const bool is_believed = target.integer("SELECT response_checksum FROM inbox_messages" +
                                                    of) == checksum_of(answer);
            if (!sent.receipt.empty() && answer != sent.receipt && is_believed &&
                !repeated_.contains(id))
                found += id + " would be answered in another way\n";
        }
        return found + wrong_losses(source);
    }
    [[nodiscard]] std::string kind() const {
        if (!repeated_.empty() || !gone_.empty()) return "rolled back";
        return dead_ > 0 ? "quarantined" : "harmless";
    }

private:
    std::string wrong_losses(test::sqlite_file& source) {
        // A row whose id was changed, and that was buried for it.
        const auto renamed = source.lines(
            "SELECT message_id FROM outbox_messages"
            " WHERE status = 'Dead' AND last_error LIKE"
            " '%store_corrupt%' OR last_error LIKE '%is not a UUID%'");
        for (std::size_t at = 0; at < renamed.size(); at = renamed.find('\n', at) + 1)
            if (!before_.messages.contains(renamed.substr(at, renamed.find('\n', at) - at)) &&
                gone_.size() == 1 && --gone_.begin()->second == 0)
                gone_.clear(), ++dead_;
        if (gone_.empty()) return {};
        if (!where_.in_log || where_.service != "source") return "messages are gone\n";
        const auto first = gone_.begin()->first;
        std::map<std::size_t, std::size_t> all;
        for (const auto& [id, sent] : before_.messages)
            if (sent.transaction >= first) ++all[sent.transaction];
        return gone_ == all ? "" : "what is gone is not all of the last transactions\n";
    }

    std::string folder_;
    const held& before_;
    const damaged_place& where_;
    std::set<std::string> repeated_;
    std::map<std::size_t, std::size_t> gone_;  // How many, by their transactions.
    std::size_t dead_ = 0;
};

/// Delivered messages are sent again, so that every row of both sides is looked at.
void send_all_again(node& from, const std::string& file) {
    from.transact([](transaction& tx) {
        tx.execute(
            "UPDATE outbox_messages SET status = 'Pending', next_retry_at = 0, sent_at = NULL"
            " WHERE status = 'Sent'");
    });
    // The node looks when another one commits, and otherwise each second.
    try {
        test::sqlite_file(file).run(
            "UPDATE posthorn_meta SET value = value + 1 WHERE name = 'barrier'");
    } catch (const std::runtime_error&) {
        return;  // It is for the node to find damage.
    }
}

/// What SQLite by itself has to say of a database; asked of a copy, to leave its log as it is.
bool looks_sound(const std::string& folder, const std::string& service) {
    const auto copy = folder + "/look";
    std::filesystem::create_directories(copy);
    for (const std::string end : {".db", ".db-wal"})
        if (std::filesystem::exists(folder + "/" + service + end))
            std::filesystem::copy_file(folder + "/" + service + end, copy + "/" + service + end);
    bool sound = false;
    try {
        sound =
            test::sqlite_file(copy + "/" + service + ".db").text("PRAGMA quick_check(1)") == "ok";
    } catch (const std::exception&) {
        sound = false;
    }
    std::filesystem::remove_all(copy);
    return sound;
}

}  // namespace

held make_killed_pair(const std::string& folder) {
    std::filesystem::create_directories(folder);
    const auto child = ::fork();
    if (child == 0) {
        try {
            build(folder);
        } catch (const std::exception& failed) {
            fmt::print(stderr, "{}\n", failed.what());
        }
        ::_exit(1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) throw std::runtime_error("the pair to be damaged could not be made");
    // Looking at a copy leaves the logs as they are.
    const auto copy = folder + "-read";
    std::filesystem::copy(folder, copy);
    held before;
    test::sqlite_file source(copy + "/source.db"), target(copy + "/target.db");
    const auto ids = source.lines("SELECT message_id FROM outbox_messages ORDER BY seq");
    for (std::size_t at = 0; at < ids.size(); at += 37) {
        const auto id = ids.substr(at, 36);
        const auto of = " WHERE message_id = '" + id + "'";
        before.messages[id] = {source.text("SELECT payload FROM outbox_messages" + of),
                               target.text("SELECT receipt FROM effects" + of),
                               at / 37 / messages_each};
    }
    source.close();
    target.close();
    std::filesystem::remove_all(copy);
    return before;
}

verdict judge_damage(const std::string& folder, const held& before, const damaged_place& where) {
    if (where.in_backup) {
        const auto done = sqlite::restore({.backup = folder + "/" + where.service + "-backup.db",
                                           .database = folder + "/" + where.service + ".db",
                                           .service = where.service},
                                          real_clock{});
        if (!done) return {.kind = "detected"};
    }
    const bool is_sound = where.in_log || looks_sound(folder, where.service);
    damaged_pair pair(folder);
    verdict made;
    try {
        pair.open_target();
        auto& source = pair.open_source();
        if (!pair.drain()) return {"hang", "messages stay pending\n" + pair.log()};
        send_all_again(source, folder + "/source.db");
        if (!pair.drain()) return {"hang", "repeats stay pending\n" + pair.log()};
        if (pair.told()) made.kind = "detected at work";
        pair.close();
    } catch (const error& refused) {
        made.kind = refused.code() == error_code::store_corrupt
                        ? "detected"
                        : "refused with " + std::string(refused.name());
    }
    if (pair.log().contains(canary_payload)) made.faults += "a payload is in the log\n";
    comparison compared(folder, before, where);
    made.faults += compared.wrong_deliveries(pair.delivered());
    if (made.kind.empty()) {
        try {
            made.faults += compared.wrong_rows();
        } catch (const std::exception& unreadable) {
            made.faults += std::string("nobody told: ") + unreadable.what() + "\n";
        }
        made.kind = compared.kind();
        if (!is_sound) made.faults += "SQLite sees the damage, and nobody was told of it\n";
    }
    if (!made.faults.empty()) made.faults += pair.log();
    return made;
}

}  // namespace posthorn::crash
