#include "sim/flows/flow_traffic.hpp"

#include <memory>

#include <fmt/format.h>

#include "sim/checks/keys.hpp"
#include "sim/flows/courses.hpp"
#include "sim/flows/flow_checks.hpp"

namespace posthorn::sim {
namespace {

/// What a workflow has to do, or what has to be done for it; a held one waits for a person. Calls are
/// messages, which come to their end like others.
constexpr const char* unfinished =
    "SELECT (SELECT count(*) FROM workflow_signals WHERE matched_at IS NULL)"
    " + (SELECT count(*) FROM workflow_instances i WHERE i.status = 'starting'"
    " OR i.status = 'running' AND ("
    " EXISTS (SELECT 1 FROM workflow_mailbox m WHERE m.instance = i.instance)"
    " OR EXISTS (SELECT 1 FROM workflow_timers t WHERE t.instance = i.instance)"
    " OR EXISTS (SELECT 1 FROM workflow_runs r WHERE r.instance = i.instance)))";

}  // namespace

void flow_traffic::act() {
    const auto roll = world_.dice.below(100);
    if (roll < 35 || known_.empty()) return start();
    if (roll < 40) return start_by_plain_sql();
    if (roll < 85) return tell();
    if (roll < 90) return cancel();
    look();
}

std::string flow_traffic::draw_token() { return fmt::format("token {};", ++tokens_); }

void flow_traffic::commit(machine& at, std::function<void(transaction&)> work,
                          std::function<void()> then) {
    auto* const one = at.pick(world_.dice, false);
    if (one == nullptr) return;
    const auto link = std::make_shared<chain_link>();
    one->core().submit_then(
        [work = std::move(work), link](transaction& tx) {
            *link = append_to_chain(tx, "for a workflow");
            work(tx);
        },
        [this, one, link, then = std::move(then)](const std::exception_ptr& failure) {
            if (failure || one->is_dead()) return;
            world_.book.promised(one->service(), *link, {});
            then();
        });
}

void flow_traffic::start() {
    auto& dice = world_.dice;
    const known made{dice.below(world_.size()), dice.below(std::size(courses)),
                     fmt::format("f{}", known_.size() + 1)};
    known_.push_back(made);
    auto& at = world_.at(made.at);
    const auto service = at.service();
    const course with{made.id, service == "ann" || (service != "bob" && dice.below(2) == 0),
                      static_cast<std::int64_t>(dice.below(1'000'000)), std::string(payload_canary),
                      0};
    const auto token = dice.below(4) == 0 ? draw_token() : std::string();
    const auto level = static_cast<std::int64_t>(dice.below(3));
    commit(
        at,
        [=](transaction& tx) {
            if (!token.empty()) tx.signal(told{made.id, level, token, std::string(payload_canary)});
            tx.start(courses[made.code], made.id, with);
        },
        [=, this] {
            promises_.started.emplace(service, made.id);
            if (!token.empty()) promises_.told.emplace(service, token);
        });
}

// Visible before it is on disk: not promised yet.
void flow_traffic::start_by_plain_sql() {
    auto& dice = world_.dice;
    const known made{dice.below(world_.size()), 2, fmt::format("f{}", known_.size() + 1)};
    auto& at = world_.at(made.at);
    if (at.running().empty() || at.has_gone_down()) return;
    known_.push_back(made);
    write_disk(
        at.disk(), database_path,
        fmt::format("INSERT INTO workflow_instances (workflow, id, arguments) VALUES"
                    " ('Patience', '{0}', '[{{\"id\":\"{0}\",\"callsBob\":false,\"dice\":{1},"
                    "\"canary\":\"\",\"round\":0}}]')",
                    made.id, dice.below(100)));
}

void flow_traffic::tell() {
    auto& dice = world_.dice;
    // Mostly one of the last, which may still wait.
    const auto back = std::min<std::uint64_t>(known_.size(), 1 + dice.below(12));
    const auto& to = known_[known_.size() - back];
    auto& host = world_.at(to.at);
    const auto token = draw_token();
    const told said{to.code == 3 ? std::string(shared_key) : to.id,
                    static_cast<std::int64_t>(dice.below(3)), token, std::string(payload_canary)};
    if (dice.below(3) == 0) {  // By another service.
        auto& from = world_.at((to.at + 1 + dice.below(world_.size() - 1)) % world_.size());
        auto letter = world_.work.simple(host.service(), std::string(endpoint_of<told>));
        letter.letters.front().payload = encode(said);
        letter.letters.front().options.type = message_type::signal;
        world_.send(from, std::move(letter));
        return;
    }
    const bool is_addressed = dice.below(4) == 0;
    commit(
        host,
        [said, is_addressed, code = courses[to.code], id = to.id](transaction& tx) {
            is_addressed ? tx.signal(code, id, said) : tx.signal(said);
        },
        [this, token, service = host.service()] { promises_.told.emplace(service, token); });
}

void flow_traffic::cancel() {
    const auto& which = known_[world_.dice.below(known_.size())];
    commit(
        world_.at(which.at),
        [code = courses[which.code], id = which.id](transaction& tx) {
            detail::cancel_workflow(tx, detail::entry_of(code), id, "its client left");
        },
        [] {});
}

void flow_traffic::look() {
    auto& at = world_.at(world_.dice.below(world_.size()));
    if (auto* const one = at.pick(world_.dice, false)) look_at_flows(*one, world_.book);
}

bool flow_traffic::is_drained() {
    for (std::size_t i = 0; i < world_.size(); ++i) {
        auto* const one = world_.at(i).pick(world_.dice, false);
        std::int64_t left = 1;
        if (one == nullptr || !one->core().store().read([&](store_reader& from) {
                return ask(from, unfinished, [&](const sql_row& row) { left = row.integer(0); });
            }))
            return false;
        if (left != 0) return false;
    }
    return true;
}

void flow_traffic::check() {
    std::map<std::string, std::string> answers;
    for (std::size_t i = 0; i < world_.size(); ++i)
        if (auto* const one = world_.at(i).pick(world_.dice, false)) read_answers(*one, answers);
    for (std::size_t i = 0; i < world_.size(); ++i) {
        auto& at = world_.at(i);
        if (auto* const one = at.pick(world_.dice, false))
            steps_ += check_flows(*one, {at.service(), at.clock().went_back(), answers}, promises_,
                                  world_.book);
    }
}

}  // namespace posthorn::sim
