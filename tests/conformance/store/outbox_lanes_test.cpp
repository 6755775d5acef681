// What lanes ask of the store: which destinations are paused, and what has expired where nothing is
// sent.
#include "conformance/store/lane_store.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

TEST_P(lane_store, a_destination_is_paused_until_it_is_resumed) {
    EXPECT_THAT(paused(), IsEmpty());
    EXPECT_TRUE(pause("stock", "stocktaking"));
    EXPECT_TRUE(pause("billing"));
    EXPECT_FALSE(pause("stock", "another reason"));
    const paused_destination billing{.destination = "billing", .since = noon};
    const paused_destination stock{.destination = "stock", .since = noon, .reason = "stocktaking"};
    EXPECT_THAT(paused(), ElementsAre(billing, stock));
    reopen();
    EXPECT_THAT(paused(), ElementsAre(billing, stock));
    EXPECT_TRUE(resume("stock"));
    EXPECT_FALSE(resume("stock"));
    EXPECT_THAT(paused(), ElementsAre(billing));
}

TEST_P(lane_store, what_is_past_its_time_is_found_whatever_flow_it_is_in) {
    std::vector<uuid> late{put_expiring(noon + 1s), put_expiring(noon + 1h, "acme", 9),
                           put_expiring(noon + 2s, "acme"), put_expiring(noon + 3s, "zoo", 3)};
    put_expiring(noon + 1h + 1ms);
    put_expiring(noon + 2h, "acme", 9);
    put_expiring(noon + 1s, "", 0, "stock");
    const auto slice = expired(std::nullopt, 1000);
    std::vector<uuid> found;
    for (const auto& row : slice.rows) found.push_back(row.body.id);
    EXPECT_THAT(found, UnorderedElementsAreArray(late));
    EXPECT_FALSE(slice.last);
}

TEST_P(lane_store, a_look_for_what_has_expired_goes_on_where_it_ended) {
    std::vector<uuid> late;
    for (int i = 0; i < 40; ++i) {
        const auto id = put_expiring(i % 3 == 0 ? noon + 1s : noon + 5h, i % 2 == 0 ? "" : "acme",
                                     i % 4 == 0 ? 5 : 0);
        if (i % 3 == 0) late.push_back(id);
    }
    for (const std::size_t rows_max : {1U, 2U, 3U, 7U, 39U, 41U}) {
        std::vector<uuid> found;
        std::optional<pending_place> place;
        int looks = 0;
        do {
            auto slice = expired(place, rows_max);
            EXPECT_LE(slice.rows.size(), rows_max);
            for (const auto& row : slice.rows) found.push_back(row.body.id);
            place = slice.last;
        } while (place && ++looks < 100);
        EXPECT_THAT(found, UnorderedElementsAreArray(late)) << rows_max;
    }
}

TEST_P(lane_store, what_waits_for_its_retry_is_not_looked_at_for_expiry) {
    auto body = sample();
    body.deliver_at = noon + 2h;
    body.expires_at = noon + 3h;
    put(body);
    EXPECT_THAT(expired(std::nullopt, 1000, noon + 1h).rows, IsEmpty());
}

}  // namespace
}  // namespace posthorn::conformance
