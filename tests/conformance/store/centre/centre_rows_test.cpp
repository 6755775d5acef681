// What a centre keeps of its sites, on every database.
#include <fmt/format.h>

#include "conformance/store/centre/centre_store.hpp"

namespace posthorn::conformance {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view first_id = "0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001";

std::string submit(std::string_view site, std::string_view id = first_id) {
    return fmt::format(R"({{"NotificationId":"{}","SourceSiteId":"{}","Subject":"hot"}})", id,
                       site);
}

std::string telemetry(std::string_view site, std::string_view status, bool tried = true,
                      std::string_view ended = "null") {
    return fmt::format(
        R"({{"TrackedOperationId":"{}","SourceSite":"{}","Snapshot":{{"Kind":"ExternalSystem",)"
        R"("Status":"{}","RetryCount":1,"TerminalAtUtc":{}}}{}}})",
        first_id, site, status, ended,
        tried ? R"(,"Attempt":{"Channel":"ApiOutbound","DurationMs":12})" : "");
}

TEST_P(centre_store, makes_a_row_of_a_notification_and_a_repeat_changes_nothing) {
    const auto ack = fmt::format(R"({{"NotificationId":"{}","Accepted":true}})", first_id);
    EXPECT_EQ(notify("plant", submit("plant 7")), ack);
    EXPECT_EQ(notify("plant", submit("plant 8")), ack);
    EXPECT_EQ(number("SELECT count(*) FROM Notifications"), 1);
    EXPECT_EQ(text("SELECT SourceSiteId FROM Notifications"), "plant 7");
    EXPECT_EQ(text("SELECT NotificationId FROM Notifications"), first_id);
}

TEST_P(centre_store, calls_a_site_without_a_name_unknown) {
    notify("plant", submit(""));
    notify("depot", submit(" ", "0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0002"));
    EXPECT_EQ(number("SELECT count(*) FROM Notifications WHERE SourceSiteId = '$unknown-site'"), 2);
    EXPECT_EQ(number("SELECT count(*) FROM centre_sites"), 2) << "one for each service";
}

TEST_P(centre_store, accepts_neither_the_name_nor_the_id_of_anothers) {
    notify("plant", submit("plant 7"));
    EXPECT_THAT(notify("depot", submit("plant 7", "0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0002")),
                HasSubstr("plant 7 belongs to another service"));
    EXPECT_THAT(notify("depot", submit("depot")), HasSubstr("came from another service before"));
    EXPECT_THAT(notify("depot", "{}"), HasSubstr("has no NotificationId"));
    EXPECT_EQ(number("SELECT count(*) FROM Notifications"), 1);
}

TEST_P(centre_store, mirrors_what_a_site_tells_and_counts_the_attempts) {
    tell("plant", telemetry("plant 7", "Retrying"));
    tell("plant", telemetry("plant 7", "Parked"));
    EXPECT_EQ(text("SELECT Status FROM SiteCalls"), "Parked");
    EXPECT_EQ(number("SELECT Attempts FROM SiteCalls"), 2);
    tell("plant", telemetry("plant 7", "Discarded", false, R"("2026-01-01T00:00:00.000Z")"));
    EXPECT_EQ(text("SELECT Status FROM SiteCalls"), "Discarded");
    EXPECT_EQ(number("SELECT Attempts FROM SiteCalls"), 2) << "a person did it";
    EXPECT_EQ(text("SELECT Channel FROM SiteCalls"), "ApiOutbound") << "of the last attempt";
}

TEST_P(centre_store, keeps_the_calls_of_services_apart_and_takes_no_nonsense) {
    tell("plant", telemetry("plant 7", "Parked"));
    EXPECT_THAT(tell("depot", telemetry("plant 7", "Delivered")),
                HasSubstr("belongs to another service"));
    tell("depot", telemetry("depot", "Delivered"));
    EXPECT_EQ(text("SELECT Status FROM SiteCalls WHERE SourceService = 'plant'"), "Parked");
    EXPECT_THAT(tell("plant", telemetry("plant 7", "Gone")), HasSubstr("status 'Gone'"));
    EXPECT_THAT(tell("plant", "[]"), HasSubstr("not a JSON object"));
    EXPECT_THAT(tell("plant", fmt::format(R"({{"TrackedOperationId":"{}"}})", first_id)),
                HasSubstr("no Snapshot"));
    EXPECT_EQ(tell("depot", R"({"TrackedOperationId":"0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0002",)"
                            R"("Snapshot":{"Kind":"a\u0000b","Status":"Parked"}})"),
              "")
        << "text that a server cannot hold";
    EXPECT_EQ(number("SELECT count(*) FROM SiteCalls"), 3);
}

TEST_P(centre_store, finds_a_site_by_its_name_and_one_without_by_its_service) {
    notify("plant", submit("plant 7"));
    notify("depot", submit("", "0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0002"));
    const auto service = [&](std::string_view name) {
        std::string found;
        EXPECT_TRUE(db().read([&](store_reader& from) -> result<> {
            const auto one = find_site(from, name);
            found = one ? one->service : std::string(one.error().what());
            return {};
        }));
        return found;
    };
    EXPECT_EQ(service("plant 7"), "plant");
    EXPECT_EQ(service("depot"), "depot");
    EXPECT_EQ(service("$unknown-site"), "depot");
    EXPECT_THAT(service("plant 9"), HasSubstr("no site plant 9 has been heard of"));
    notify("ship", submit("", "0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0003"));
    EXPECT_THAT(service("$unknown-site"), HasSubstr("stands for several sites"));
}

TEST_P(centre_store, forgets_calls_that_ended_long_ago_and_no_other) {
    tell("plant", telemetry("plant 7", "Delivered", true, R"("2026-01-01T00:00:00.000Z")"));
    tell("depot", telemetry("depot", "Parked"));
    const auto may = [&](std::string_view before) {
        return look<bool>([=](store_reader& from) { return may_purge_calls(from, before); });
    };
    EXPECT_FALSE(may("2026-01-01T00:00:00.000Z"));
    EXPECT_TRUE(may("2026-01-01T00:00:00.001Z"));
    EXPECT_EQ(write<std::int64_t>([](store_transaction& tx) {
                  return purge_calls(tx, "2026-02-01T00:00:00.000Z", 10);
              }),
              1);
    EXPECT_EQ(text("SELECT SourceService FROM SiteCalls"), "depot");
}

}  // namespace
}  // namespace posthorn::conformance
