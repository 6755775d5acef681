#include <boost/json/serialize.hpp>

#include "admin/key_report.hpp"
#include "admin/store_report.hpp"
#include "unit/admin/admin_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr wall_time noon{12h};

TEST(key_report, tells_names_roles_and_times_and_no_secret) {
    const auto make = [](std::string_view base64) { return make_key(*secret::parse(base64)); };
    auto old = make("b2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xkb2w=");
    old.verifies_until = noon + 1h;
    auto now = make("bm93bm93bm93bm93bm93bm93bm93bm93bm93bm93bm8=");
    auto next = make("bmV4dG5leHRuZXh0bmV4dG5leHRuZXh0bmV4dG5leHQ=");
    next.signs_from = noon + 1h;
    auto lost = make("bG9zdGxvc3Rsb3N0bG9zdGxvc3Rsb3N0bG9zdGxvc3Q=");
    lost.revoked = true;
    auto past = make("cGFzdHBhc3RwYXN0cGFzdHBhc3RwYXN0cGFzdHBhc3Q=");
    past.verifies_until = noon;
    const auto ring = std::make_shared<key_ring>(std::vector{now, old, next, lost, past});
    const key_report report{
        .admin = {{.name = "wall",
                   .role = admin_role::viewer,
                   .rights = {.payloads = true},
                   .made = noon - 1h},
                  {.name = "desk", .role = admin_role::operator_, .rights = {.secrets = true}}},
        .peers = {{"stock", ring}},
        .now = noon};
    const auto shown = boost::json::serialize(to_json(report));
    EXPECT_THAT(shown,
                HasSubstr(R"({"name":"wall","role":"viewer","payloads":true,"secrets":false,)"
                          R"("madeAt":"1970-01-01T11:00:00)"));
    EXPECT_THAT(shown, HasSubstr(R"("role":"operator","payloads":false,"secrets":true})"));
    const auto state = [&](const signing_key& one, std::string_view is) {
        EXPECT_THAT(shown, HasSubstr(R"({"id":")" + one.id + R"(","state":")" + std::string(is)));
    };
    state(now, "signs");
    state(old, "verifies");
    state(next, "later");
    state(lost, "revoked");
    state(past, "expired");
    EXPECT_THAT(shown, HasSubstr(R"("verifiesUntil":"1970-01-01T13:00:00)"));
    for (const auto* const part : {"b2xk", "old", "bm93", "now", "sha256"})
        EXPECT_THAT(shown, Not(HasSubstr(part)));
}

TEST(store_report, tells_sizes_backups_retention_and_findings) {
    const store_report report{
        .databases = {{.kind = "SQLite",
                       .place = "/data/orders.db",
                       .holds = "outbox and inbox",
                       .bytes = 4096,
                       .log_bytes = 512,
                       .disk = disk_report{.state = disk_state::scarce, .free = 99}}},
        .backup_plan = sqlite::backup_plan{.folder = "/backups"},
        .backups = {{.made = 3, .newest = noon, .took = 5ms, .bytes = 4000}},
        .retention = {{"sent messages", 24h}, {"dead letters", std::nullopt}},
        .findings = {{.check = "backups", .level = "warn", .what = "w", .why = "y", .todo = "t"}}};
    const auto shown = boost::json::serialize(to_json(report));
    for (const auto* const part :
         {R"("bytes":4096,"logBytes":512)", R"("state":"scarce")", R"("freeBytes":99)",
          R"("folder":"/backups","everyMs":3600000)", R"("made":3,"failed":0,"newest":")",
          R"({"what":"sent messages","keepMs":86400000})",
          R"({"what":"dead letters","keepMs":null})",
          R"({"check":"backups","level":"warn","what":"w","why":"y","todo":"t"})"})
        EXPECT_THAT(shown, HasSubstr(part));
}

TEST_F(admin_fixture, keys_and_store_are_told_by_a_running_node_only) {
    EXPECT_EQ(get("/_rf/store").status, 404);
    EXPECT_EQ(get("/_rf/keys").status, 404);
}

}  // namespace
}  // namespace posthorn
