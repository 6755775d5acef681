#include "sim/workload.hpp"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <posthorn/error.hpp>

#include "sim/checks/keys.hpp"
#include "sim/network.hpp"

namespace posthorn::sim {

using namespace std::chrono_literals;

chain_link append_to_chain(transaction& tx, std::string_view tag) {
    chain_link last;
    if (const auto row = tx.query_one<std::int64_t, std::int64_t>(
            "SELECT number, hash FROM chain ORDER BY number DESC LIMIT 1"))
        last = {std::get<0>(*row), static_cast<std::uint64_t>(std::get<1>(*row))};
    const chain_link next{last.number + 1, hash_text(last.hash, tag)};
    tx.execute("INSERT INTO chain VALUES (?, ?, ?)", next.number, tag,
               static_cast<std::int64_t>(next.hash));
    return next;
}

std::vector<uuid> errand::ids() const {
    std::vector<uuid> found;
    for (const auto& one : letters) found.push_back(*one.options.id);
    return found;
}

workload::workload(const surroundings& around, handler_habits with)
    : habits(with),
      around_(around),
      ids_([&time = around.loop.time()] { return time.wall(); }, around.dice) {}

void workload::equip(process& one) {
    auto& registry = one.core().registry();
    value_or_throw(registry.add(
        "Effect", {.run = transactional_handler([this, &one](context& c, const message& m) {
                       return run_effect(one, c, m);
                   })}));
    value_or_throw(registry.add("Outside", {.run = blocking_handler([this, &one](const message& m) {
                                                return run_outside(one, m);
                                            }),
                                            .lease = 5s}));
    value_or_throw(registry.add("OutsideSlowly", {.run = async_handler([this, &one](message m) {
                                                      return run_outside_slowly(one, std::move(m));
                                                  }),
                                                  .lease = 5s}));
}

std::string workload::run_effect(process& at, context& c, const message& m) {
    auto& dice = around_.dice;
    const auto roll = dice.below(100);
    if (roll < habits.throws_early) throw std::runtime_error("no, before any work");
    const auto id = m.id.to_string();
    append_to_chain(c, "effect " + id);
    std::string onward;
    const auto hops_left = m.payload.at(m.payload.size() - 2) - '0';
    if (hops_left > 0 && dice.below(100) < habits.sends_on) {
        const auto key = draw_order_key();
        onward =
            c.send(other_than(at.service()), "Effect",
                   payload_of(key, static_cast<std::uint64_t>(hops_left - 1)), {.order_key = key})
                .to_string();
        ++sent_on_;
    }
    c.execute("INSERT INTO effects VALUES (?, ?, ?, ?)", id, m.source, onward,
              std::int64_t{m.expires_at.time_since_epoch().count()});
    around_.book.note(m.id, fmt::format("{} handles it{}{}", at.name(),
                                        onward.empty() ? "" : " and sends on ", onward));
    if (in_handler) in_handler(at, m);
    auto past = habits.throws_early + habits.throws_late;
    if (roll < past) throw std::runtime_error("no, after all the work");
    if (roll < (past += habits.buries)) throw permanent("never");
    if (roll < past + habits.breaks_the_group)
        c.execute("INSERT OR ROLLBACK INTO chain VALUES (1, 'breaks', 0)");
    if (dice.below(100) >= habits.responds) return {};
    // New each time, so that a second run cannot pass for a cached answer.
    return fmt::format(R"({{"answer":{},"canary":"{}"}})", dice.next(), payload_canary);
}

std::string workload::run_outside(process& at, const message& m) {
    if (at.is_dead()) throw std::runtime_error("dead");
    around_.book.note(m.id, at.name() + " handles it outside");
    around_.book.ran_outside(m.id);
    const auto roll = around_.dice.below(100);
    if (roll < habits.throws_late) throw std::runtime_error("no, after the work outside");
    if (roll < habits.throws_late + habits.buries) throw permanent("never");
    return fmt::format(R"({{"answer":{}}})", around_.dice.next());
}

task<result<std::string>> workload::run_outside_slowly(process& at, message m) {
    const auto slept = co_await around_.loop.time().sleep_for(
        std::chrono::milliseconds(around_.dice.below(6000)));  // At times past its lease.
    if (!slept) co_return std::unexpected(slept.error());
    co_return run_outside(at, m);
}

std::string workload::other_than(const std::string& service) {
    const auto& all = around_.net.services();
    for (;;) {
        const auto& found = all[around_.dice.below(all.size())];
        if (found != service) return found;
    }
}

// Few keys, so that many messages share one.
std::string workload::draw_order_key() {
    auto& dice = around_.dice;
    return dice.below(3) == 0 ? fmt::format("k{}", dice.below(4)) : std::string();
}

errand::letter workload::draw_letter(const std::string& service) {
    auto& dice = around_.dice;
    const auto key = draw_order_key();
    errand::letter made{other_than(service), "Effect", payload_of(key, dice.below(3)), {}};
    made.options.order_key = key;
    if (dice.below(4) == 0) made.options.tenant = "acme";
    if (dice.below(4) == 0) made.options.priority = static_cast<std::int32_t>(dice.below(10));
    made.options.id = ids_.next();
    made.options.max_retries = retry_for_ever;
    const auto roll = dice.below(100);
    if (roll < 8) made.endpoint = "Outside";
    if (roll >= 8 && roll < 12) made.endpoint = "OutsideSlowly";
    if (roll == 12) made.endpoint = "Nowhere";
    if (roll == 12 || roll % 9 == 4)
        made.options.expires_in = std::chrono::milliseconds(500 + dice.below(30'000));
    if (roll % 9 == 5) made.options.max_retries = static_cast<std::int32_t>(dice.below(4));
    if (roll % 9 == 6)
        made.options.deliver_at =
            around_.loop.time().wall() + std::chrono::milliseconds(dice.below(20'000));
    return made;
}

errand workload::draw(const std::string& service) {
    errand made{.tag = fmt::format("errand {}", ++errands_), .letters = {}};
    const auto count = 1 + around_.dice.below(3);
    for (std::uint64_t i = 0; i < count; ++i) made.letters.push_back(draw_letter(service));
    made.throws = around_.dice.below(25) == 0;
    return made;
}

errand workload::simple(const std::string& to, std::string endpoint) {
    errand made{.tag = fmt::format("errand {}", ++errands_), .letters = {}};
    made.letters.push_back(
        {to, std::move(endpoint), R"({"canary":"canary-payload","hops":0})", {.id = ids_.next()}});
    return made;
}

void workload::submit(process& at, const std::shared_ptr<const errand>& what, bool earlier_doubt,
                      std::function<void(ending)> then) {
    const auto link = std::make_shared<chain_link>();
    auto work = [what, link](transaction& tx) {
        *link = append_to_chain(tx, what->tag);
        for (const auto& one : what->letters)
            tx.send(one.to, one.endpoint, one.payload, one.options);
        if (what->throws) throw std::runtime_error("the business changed its mind");
    };
    auto done = [this, &at, what, link, earlier_doubt,
                 then = std::move(then)](const std::exception_ptr& failure) {
        if (at.is_dead() && !failure) {
            // Committed, but nobody was told any more.
            return then(ending::in_doubt);
        }
        try {
            if (failure) std::rethrow_exception(failure);
            around_.book.promised(at.service(), *link, what->ids());
            return then(ending::committed);
        } catch (const error& why) {
            around_.book.note(what->tag + " failed: " + why.what());
            if (earlier_doubt && why.code() == error_code::duplicate_id) {
                around_.book.promised(at.service(), {}, what->ids());
                return then(ending::committed);
            }
            if (earlier_doubt || why.is_in_doubt()) return then(ending::in_doubt);
        } catch (const std::exception& why) {
            around_.book.note(what->tag + " failed: " + why.what());
        }
        around_.book.refused(what->ids());
        then(ending::refused);
    };
    around_.book.note(at.name() + " runs " + what->tag);
    at.core().submit_then(std::move(work), std::move(done));
}

}  // namespace posthorn::sim
