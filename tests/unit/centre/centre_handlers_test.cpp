#include "centre/centre_handlers.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "centre/centre_tables.hpp"
#include "unit/inbox/inbox_fixture.hpp"

namespace posthorn {
namespace {

using ::testing::HasSubstr;

class centre : public inbox_fixture {
protected:
    centre() : inbox_fixture({centre_tables()}) {
        handle("Notification", {.run = make_notification_handler(loop.time())});
        handle("CachedCallTelemetry", {.run = make_telemetry_handler(loop.time())});
    }
    message notification() {
        return from_orders("Notification",
                           R"({"NotificationId":"0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001",)"
                           R"("SourceSiteId":"plant 7","Text":"hot"})");
    }
    message telemetry() {
        return from_orders("CachedCallTelemetry",
                           R"({"TrackedOperationId":"0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0002",)"
                           R"("SourceSite":"plant 7","Snapshot":{"Status":"Parked"}})");
    }
    /// It is not acknowledged while a trigger lets what it writes vanish, and then it is.
    void expect_kept(const message& one, const std::string& table) {
        SCOPED_TRACE(table);
        change("CREATE TRIGGER hush BEFORE INSERT ON " + table +
               " BEGIN SELECT RAISE(IGNORE); END");
        const auto answer = receive(one);
        EXPECT_EQ(answer.what, outcome::throttled) << "it is charged with nothing";
        EXPECT_THAT(answer.error, HasSubstr("left " + table + " as it was"));
        change("DROP TRIGGER hush");
        EXPECT_EQ(receive(one).what, outcome::delivered);
        EXPECT_EQ(number("SELECT count(*) FROM " + table), 1);
    }
};

TEST_F(centre, loses_no_notification_to_a_trigger_that_lets_it_vanish) {
    expect_kept(notification(), "centre_notifications");
}

TEST_F(centre, loses_no_telemetry_to_a_trigger_that_lets_it_vanish) {
    expect_kept(telemetry(), "SiteCalls");
}

TEST_F(centre, forgets_no_site_because_of_a_trigger_that_lets_it_vanish) {
    expect_kept(notification(), "centre_sites");
}

TEST_F(centre, believes_numbers_and_texts_of_every_kind_and_extreme) {
    for (const auto* value : {"-1", "9223372036854775807", "9223372036854775808", "1e300", "null",
                              R"("x")", "[]", "{}", "true", R"("\u0000")"}) {
        std::string snapshot = R"({"Status":"Retrying")";
        for (const auto* name :
             {"RetryCount", "HttpStatus", "Kind", "TargetSummary", "LastError", "CreatedAtUtc",
              "UpdatedAtUtc", "TerminalAtUtc", "SourceInstanceId", "SourceScript", "SourceNode"})
            snapshot += fmt::format(R"(,"{}":{})", name, value);
        auto one = telemetry();
        one.payload = fmt::format(
            R"({{"TrackedOperationId":"{}","SourceSite":{},"Snapshot":{}}},"Attempt":{{)"
            R"("Channel":{},"DurationMs":{}}}}})",
            one.id.to_string(), value, snapshot, value, value);
        EXPECT_EQ(receive(one).what, outcome::delivered) << value;
    }
    EXPECT_EQ(number("SELECT count(*) FROM SiteCalls"), 10);
}

}  // namespace
}  // namespace posthorn
