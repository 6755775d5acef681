#include "sim/flows/courses.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "sim/checks/keys.hpp"

namespace posthorn::sim {
namespace {

using std::chrono::milliseconds;

random_source* chance = nullptr;  // Of the world; what `transact` does need not be repeatable.
unsigned refusals = 0;            // In a hundred.

std::string canary() { return std::string(payload_canary); }

pending<take::taken> call_take(flow<trail>& f, const course& c, int number) {
    const auto id = fmt::format("{} {}", c.id, number);
    if (c.calls_bob) return f.call<bob>(take{id, canary()}).undo(give_back{id, canary()});
    return f.call<ann>(take{id, canary()}).undo(give_back{id, canary()});
}

pending<std::int64_t> write_row(flow<trail>& f, const course& c, int number) {
    return f.transact([tag = fmt::format("{}{} {}", row_tag, c.id, number)](transaction& tx) {
        const auto link = append_to_chain(tx, tag);
        if (chance->below(100) < refusals) throw std::runtime_error("no, after all the work");
        return link.number;
    });
}

}  // namespace

workflow<std::int64_t> trade(flow<trail>& f, course c) {
    f.state = {"begun", 0, canary()};
    f.state.places += co_await write_row(f, c, 1);
    f.state.places += (co_await call_take(f, c, 1)).place;
    f.state.now = "waiting";
    const auto answer = co_await f.wait(the<&told::key> == c.id && the<&told::level> >= 1)
                            .within(milliseconds(500 + c.dice % 20'000));
    if (!answer && c.dice % 2 == 0) throw failed("nothing was told");
    f.state.now = answer ? "told" : "late";
    f.state.places += (co_await call_take(f, c, 2)).place;
    if (c.dice % 3 == 0) throw failed("it changed its mind");
    f.state.places += co_await write_row(f, c, 2);
    f.state.now = "done";
    co_return f.state.places;
}
POSTHORN_WORKFLOW(trade, "Trade", 1)

workflow<std::int64_t> race(flow<trail>& f, course c) {
    f.state = {"racing", 0, canary()};
    for (int i = 1; i <= 3; ++i) {
        auto next =
            co_await f.first(f.wait(the<&told::key> == c.id), f.sleep(milliseconds(c.dice % 7'000)),
                             call_take(f, c, 100 + i));
        f.state.now = fmt::format("{} after {}", next.index(), i);
        if (next.index() == 2) co_await f.run([](const uuid&) { return std::int64_t{1}; });
        f.state.places += co_await write_row(f, c, i);
    }
    if (c.dice % 4 == 0) throw failed("it lost");
    co_return f.state.places;
}
POSTHORN_WORKFLOW(race, "Race", 1)

workflow<std::int64_t> patience(flow<trail>& f, course c) {
    f.state = {"waiting", 0, canary()};
    const auto level = c.dice % 3;
    const auto heard = c.dice % 2 == 0
                           ? co_await f.wait(the<&told::key> == c.id)
                           : co_await f.wait(the<&told::key> == c.id && the<&told::level> == level);
    f.state.now = "told";
    co_return heard.level + co_await write_row(f, c, 1);
}
POSTHORN_WORKFLOW(patience, "Patience", 1)

workflow<std::int64_t> share(flow<trail>& f, course c) {
    const auto got = co_await f.wait(the<&told::key> == std::string(shared_key))
                         .exclusive()
                         .within(milliseconds(c.dice % 30'000));
    f.state = {got ? "got it" : "got nothing", 0, canary()};
    co_return co_await write_row(f, c, 1);
}
POSTHORN_WORKFLOW(share, "Share", 1)

workflow<std::int64_t> rounds(flow<trail>& f, course c) {
    const auto sent = [&](std::string_view which) {
        auto child = c;
        child.id = fmt::format("{}.{}", c.id, which);
        child.dice = c.dice / 7;
        return child;
    };
    const auto lasting = sent("lasting"), left = sent("left"), patient = sent("patient");
    auto one = f.child(race, lasting.id, lasting);
    if (c.round == 0) {
        f.state = {"sends", 0, canary()};
        auto two = f.child(trade, left.id, left).if_parent_ends(child_fate::abandon);
        auto three =
            f.child(patience, patient.id, patient)
                .if_parent_ends(c.dice % 2 == 0 ? child_fate::terminate : child_fate::cancel);
        f.state.places += co_await write_row(f, c, 1);
        if (c.dice % 5 == 0) throw failed("it sends nobody after all");
        ++c.round;
        co_await f.again(rounds, c);
    }
    if (f.state.places == 0) throw std::logic_error("its state is not that of the run before");
    const auto end = co_await std::move(one).as_outcome();
    const auto other = co_await f.attach(trade, left.id).as_outcome();
    f.state.now = fmt::format("{} {}", end.has_value(), other.has_value());
    co_return f.state.places + co_await write_row(f, c, 2);
}
POSTHORN_WORKFLOW(rounds, "Rounds", 1)

void equip_with_flows(process& one, const surroundings& around, const handler_habits& habits) {
    chance = &around.dice;
    refusals = habits.throws_late;
    auto* const runs = one.core().features().find<engine>();
    for (const auto code : courses) value_or_throw(runs->add(detail::entry_of(code), {}));
    const auto handle = [&one, around, habits](context& c, const message& m) -> std::string {
        const auto roll = around.dice.below(100);
        const bool may_refuse = m.endpoint.ends_with("Take");
        if (roll < habits.throws_early) throw std::runtime_error("no, before any work");
        if (may_refuse && roll >= 100 - habits.buries) throw permanent("never");
        const auto link = append_to_chain(c, "effect " + m.id.to_string());
        c.execute("INSERT INTO effects VALUES (?, ?, '', ?)", m.id.to_string(), m.source,
                  std::int64_t{m.expires_at.time_since_epoch().count()});
        around.book.note(m.id, one.name() + " handles it for a workflow");
        if (roll < habits.throws_early + habits.throws_late)
            throw std::runtime_error("no, after all the work");
        return may_refuse ? fmt::format(R"({{"place":{}}})", link.number) : std::string();
    };
    for (const auto* const endpoint : {"Take", "GiveBack"})
        value_or_throw(one.core().registry().add(fmt::format("{}/v1/{}", one.service(), endpoint),
                                                 {.run = transactional_handler(handle)}));
}

}  // namespace posthorn::sim
