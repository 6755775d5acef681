#include "audit/audit_routes.hpp"

#include "support/test_environment.hpp"
#include "unit/admin/admin_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

/// What changed and was refused, asked for over the route.
class audit_routes : public admin_fixture {
protected:
    audit_routes() {
        surface->add(audit_route(store(), env_));
        describe();
    }

    void keep(std::string who, std::string target, std::string outcome) {
        audit_entry entry{std::move(who), "POST", std::move(target), "begun"};
        const auto row = loop.run(kept->begin(entry));
        ASSERT_TRUE(row);
        entry.outcome = std::move(outcome);
        loop.run(kept->finish(*row, std::move(entry)));
        loop.run_for(1min);
    }
    std::vector<std::string> targets(const std::string& query) {
        const auto told = get("/_rf/audit" + query);
        EXPECT_EQ(told.status, 200) << told.body;
        std::vector<std::string> all;
        for (const auto& each : boost::json::parse(told.body).at("entries").as_array())
            all.emplace_back(each.at("target").as_string());
        return all;
    }

private:
    test::test_environment env_{loop, log};
};

TEST_F(audit_routes, narrows_by_who_target_outcome_and_time) {
    const auto at = [this] { return to_iso8601(loop.time().wall()); };
    keep("night-shift", "/_rf/dead/requeue", "done");
    const auto second = at();
    keep("wall", "/_rf/dead/requeue%", "answered 409");
    const auto third = at();
    keep("night-shift", "/_rf/queue/retry", "done");
    EXPECT_THAT(targets("?who=night-shift"), ElementsAre("/_rf/queue/retry", "/_rf/dead/requeue"));
    EXPECT_THAT(targets("?target=dead"), ElementsAre("/_rf/dead/requeue%", "/_rf/dead/requeue"));
    // A sign that means anything in other ways of asking means itself.
    EXPECT_THAT(targets("?target=%25"), ElementsAre("/_rf/dead/requeue%"));
    EXPECT_THAT(targets("?outcome=409"), ElementsAre("/_rf/dead/requeue%"));
    EXPECT_THAT(targets("?since=" + second + "&until=" + third), ElementsAre("/_rf/dead/requeue%"));
    EXPECT_THAT(targets("?who=night-shift&limit=1"), ElementsAre("/_rf/queue/retry"));
    EXPECT_THAT(targets("?who=night-shift&before=3"), ElementsAre("/_rf/dead/requeue"));
    EXPECT_THAT(targets("?who=x'%20OR%201=1"), ElementsAre());
}

TEST_F(audit_routes, says_what_can_be_asked_for) {
    for (const auto* const query :
         {"?limit=1001", "?since=yesterday", "?until=tomorrow", "?colour=red", "?who=%zz"})
        EXPECT_EQ(get(std::string("/_rf/audit") + query).status, 400) << query;
    EXPECT_THAT(get("/_rf/audit?colour=red").body,
                HasSubstr("'colour=red' cannot be asked for; there are who"));
    EXPECT_THAT(get("/_rf/audit?until=tomorrow").body,
                HasSubstr("until is 'tomorrow'; give a time like 2026-02-14T12:00:00Z"));
    const auto now = to_iso8601(loop.time().wall());
    EXPECT_THAT(get("/_rf/audit?since=" + now + "&until=" + now).body,
                HasSubstr("so nothing lies between; give an earlier since, or a later until"));
    EXPECT_THAT(get("/_rf/audit?until=9999-12-31T00:00:00Z").body,
                HasSubstr("more than a year from now"));
}

}  // namespace
}  // namespace posthorn
