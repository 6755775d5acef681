#include <gtest/gtest.h>

#include "outbox/lane/lane.hpp"
#include "unit/outbox/rig.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::rig;

std::optional<lane_mode> mode_of(rig& node) {
    const auto all = node.get().counters().board.list();
    return all.empty() ? std::nullopt : std::optional(all.front().mode);
}

std::int64_t charged(const rig& node) {
    std::int64_t all = 0;
    for (const auto& [seq, one] : node.store.tables.rows) all += one.row.attempts;
    return all;
}

/// As a broker's transport answers while it cannot connect.
void cannot_connect(test::fake_wire& wire) {
    wire.answer = [](const message&) {
        return delivery{.what = outcome::unanswered,
                        .error = "unreachable: it is not reached",
                        .code = error_code::unreachable};
    };
}

TEST(outage, of_a_broker_from_the_start_of_the_node_ends_within_seconds_for_its_lane) {
    virtual_loop loop;
    rig node(loop);
    node.limits_of["ledger"] = {.probe_pause_max = 2s};  // As brokers have it.
    auto& ledger = node.wire("ledger");
    cannot_connect(ledger);
    node.start();
    for (int i = 0; i < 30; ++i) node.store.send(node.to("ledger"));
    loop.run_for(10min);
    EXPECT_EQ(mode_of(node), lane_mode::open);
    EXPECT_EQ(charged(node), 0);
    for (std::size_t i = 1; i < ledger.sent_at.size(); ++i)
        EXPECT_LE(ledger.sent_at[i] - ledger.sent_at[i - 1], 3100ms) << i;
    ledger.always(outcome::delivered);
    loop.run_for(5s);
    EXPECT_EQ(node.count(outbox_status::sent), 30U);
    EXPECT_EQ(mode_of(node), lane_mode::running);
}

TEST(outage, ends_as_soon_as_a_new_route_lets_the_lane_look) {
    virtual_loop loop;
    rig node(loop);
    auto& ledger = node.wire("ledger");
    cannot_connect(ledger);
    node.start();
    for (int i = 0; i < 30; ++i) node.store.send(node.to("ledger"));
    loop.run_for(10min);  // By now a minute passes between two probes.
    const auto probes = ledger.sends.size();
    loop.run_for(1s);
    ASSERT_EQ(ledger.sends.size(), probes) << "none is due";
    node.limits_of["ledger"] = {.probe_pause_max = 2s};
    node.get().routes_changed();
    ledger.always(outcome::delivered);
    loop.run_for(5s);
    EXPECT_EQ(node.count(outbox_status::sent), 30U);
}

}  // namespace
}  // namespace posthorn
