// How a lane closes messages that are not to be sent any more.
#include <gmock/gmock.h>

#include "unit/outbox/rig.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::rig;
using ::testing::ElementsAre;

/// Counts what is on disk.
class counting_rider final : public detail::settle_rider {
public:
    explicit counting_rider(std::vector<std::int64_t>& landed) : landed_(landed) {}
    void amend(const outbox_row&, settlement&) override {}
    result<> ride(store_transaction&, const settlement&) override { return {}; }
    void landed(const settlement& what) override { landed_.push_back(what.seq); }
    [[nodiscard]] bool is_awaited() const override { return false; }

private:
    std::vector<std::int64_t>& landed_;
};

class lane_drop : public testing::Test {
protected:
    void SetUp() override {
        node.options.lane.batch_rows = 1;
        node.options.lane.batches_in_flight_max = 1;
        plant.delay = 1min;
        node.options.lane.attempt_timeout = 1h;
        node.start();
    }
    void drop(std::vector<std::int64_t> seqs) {
        drop_order order{.destination = "plant", .rows = {}};
        for (const auto seq : seqs)
            order.rows.push_back(
                {.seq = seq, .why = "dropped", .rider = std::make_shared<counting_rider>(gone)});
        node.drops.push_back(std::move(order));
        loop.run_for(3s);
    }

    virtual_loop loop;
    rig node{loop};
    test::fake_wire& plant = node.wire("plant");
    std::vector<std::int64_t> gone;
};

TEST_F(lane_drop, leaves_what_is_on_its_way_and_closes_what_waits) {
    std::vector<std::int64_t> seqs;
    for (int i = 0; i < 3; ++i) seqs.push_back(node.store.send(node.to("plant")));
    loop.run_for(1s);
    ASSERT_EQ(plant.sends.size(), 1U);
    drop({seqs[0], seqs[1]});
    EXPECT_EQ(node.row(seqs[0]).status, outbox_status::pending);
    EXPECT_EQ(node.row(seqs[1]).status, outbox_status::resolved);
    EXPECT_EQ(node.row(seqs[2]).status, outbox_status::pending);
    EXPECT_THAT(gone, ElementsAre(seqs[1]));
    loop.run_for(5min);
    EXPECT_EQ(node.row(seqs[0]).status, outbox_status::sent);
    EXPECT_EQ(node.row(seqs[2]).status, outbox_status::sent);
    EXPECT_EQ(plant.sends.size(), 2U) << "what was closed is not sent";
}

TEST_F(lane_drop, closes_what_is_in_the_table_alone) {
    plant.always(outcome::unanswered);
    plant.delay = 1ms;
    std::vector<std::int64_t> seqs;
    for (int i = 0; i < 20; ++i) seqs.push_back(node.store.send(node.to("plant")));
    loop.run_for(30s);
    drop({seqs[18], seqs[19]});
    EXPECT_EQ(node.row(seqs[18]).status, outbox_status::resolved);
    EXPECT_EQ(node.row(seqs[19]).status, outbox_status::resolved);
    EXPECT_EQ(node.count(outbox_status::pending), 18U);
}

}  // namespace
}  // namespace posthorn
