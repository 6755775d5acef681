#include "webhook/routes/event_routes.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(an_event, is_judged_by_what_became_of_its_deliveries) {
    struct row {
        event_deliveries seen;
        std::string_view state;
    };
    for (const auto& [seen, state] : {
             row{{}, "unheard"},
             row{{.delivered = 3}, "delivered"},
             row{{.delivered = 3, .resolved = 1}, "delivered"},
             row{{.delivered = 1, .exhausted = 1}, "partly"},
             row{{.exhausted = 2, .resolved = 1}, "exhausted"},
             row{{.resolved = 1}, "resolved"},
             row{{.delivered = 1, .waiting = 1, .exhausted = 1}, "waiting"},
         })
        EXPECT_EQ(judge_event(true, seen), state);
    EXPECT_EQ(judge_event(false, {}), "waiting");
    EXPECT_EQ(judge_event(false, {.delivered = 1}), "waiting");
}

}  // namespace
}  // namespace posthorn
