#include "forward/central_telemetry.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

namespace posthorn {
namespace {

forward_attempt an_attempt() {
    forward_attempt seen;
    seen.id = *uuid::parse("0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001");
    seen.channel = "ApiOutbound";
    seen.category = "ExternalSystem";
    seen.target = "erp";
    seen.source_site = "plant 7";
    seen.outcome = "TransientFailure";
    seen.retry_count = 2;
    seen.last_error = "no \xff paper";
    seen.http_status = 500;
    seen.duration = std::chrono::milliseconds(12);
    return seen;
}

std::string status_after_attempt(outbox_status to) {
    return standing_after(an_attempt(), to, wall_time{}).status;
}

TEST(central_telemetry, tells_where_an_operation_stands_after_an_attempt) {
    EXPECT_EQ(status_after_attempt(outbox_status::sent), "Delivered");
    EXPECT_EQ(status_after_attempt(outbox_status::pending), "Retrying");
    EXPECT_EQ(status_after_attempt(outbox_status::dead), "Parked");
    EXPECT_EQ(status_after_attempt(outbox_status::expired), "Parked");
    EXPECT_EQ(status_after_attempt(outbox_status::resolved), "Failed");
    EXPECT_EQ(standing_after(an_attempt(), outbox_status::pending, wall_time{}).ended_at, "");
    EXPECT_NE(standing_after(an_attempt(), outbox_status::sent, wall_time{}).ended_at, "");
    EXPECT_EQ(standing_after(an_attempt(), outbox_status::dead, wall_time{}).ended_at, "")
        << "what is parked may still be retried";
}

TEST(central_telemetry, says_the_attempt_beside_the_snapshot_and_is_json_whatever_an_error_holds) {
    const auto seen = an_attempt();
    const auto stands = standing_after(seen, outbox_status::pending, wall_time{});
    const auto told = boost::json::parse(write_telemetry(stands, &seen, "plant 7")).as_object();
    EXPECT_EQ(told.at("TrackedOperationId").as_string(), seen.id.to_string());
    EXPECT_EQ(told.at("SourceSite").as_string(), "plant 7");
    EXPECT_EQ(told.at("Snapshot").at("Status").as_string(), "Retrying");
    EXPECT_EQ(told.at("Snapshot").at("LastError").as_string(), "no \xEF\xBF\xBD paper");
    EXPECT_EQ(told.at("Attempt").at("Outcome").as_string(), "TransientFailure");
    EXPECT_EQ(told.at("Attempt").at("HttpStatus").as_int64(), 500);
    EXPECT_EQ(told.at("Attempt").at("DurationMs").as_int64(), 12);
    EXPECT_TRUE(told.at("Attempt").at("ExecutionId").is_null());
    EXPECT_FALSE(boost::json::parse(write_telemetry(stands, nullptr, "plant 7"))
                     .as_object()
                     .contains("Attempt"))
        << "a person did it";
}

}  // namespace
}  // namespace posthorn
