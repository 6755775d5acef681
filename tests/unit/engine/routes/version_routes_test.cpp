#include "engine/routes/version_routes.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <posthorn/workflow.hpp>

#include "base/async/virtual_loop.hpp"
#include "engine/rows/engine_tables.hpp"
#include "engine/rows/versions.hpp"
#include "engine/rows/workflow_rows.hpp"
#include "store/async.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_environment.hpp"

namespace posthorn {
namespace {

using ::testing::HasSubstr;

struct told_so {
    using contract = as_signal<"ToldSo">;
    std::string id;
};

/// As it was, as it is now, and as it should not be.
workflow<std::string> first_code(flow<>& f, std::string id) {
    co_await f.wait(the<&told_so::id> == id);
    co_await f.wait(the<&told_so::id> == id);
    co_return "first";
}
workflow<std::string> later_code(flow<>& f, std::string id) {
    co_await f.wait(the<&told_so::id> == id);
    co_await f.sleep(std::chrono::hours(1));
    co_return "later";
}
workflow<std::string> wider_code(flow<>& f, std::string id, int) {
    co_await f.wait(the<&told_so::id> == id);
    co_return "wider";
}

template <class... Args>
detail::workflow_entry entry(workflow<std::string> (*code)(flow<>&, Args...), unsigned version) {
    return {reinterpret_cast<detail::any_function>(code), "Code", version,
            &detail::workflow_entry::make<std::string, no_state, Args...>};
}

class version_routes_test : public testing::Test {
protected:
    version_routes_test() {
        auto opened = sqlite::open(
            {.path = folder.file("shop.db"), .service = "shop", .above = {engine_tables()}},
            {.time = loop.time(), .writer = at_once, .log = log});
        if (!opened) throw error(opened.error());
        database = *std::move(opened);
        desk.emplace(workflow_desk{.where = *database, .env = env});
        routes = version_routes(*desk);
    }
    ~version_routes_test() override { database->stop(); }

    void unit(unit::work_type work) {
        const auto done = loop.run(commit(*database, std::move(work)));
        if (!done) throw error(done.error());
    }
    std::int64_t number(const std::string& sql) {
        std::int64_t found = 0;
        EXPECT_TRUE(database->read([&](store_reader& from) {
            return ask(from, sql, [&](const sql_row& row) { found = row.integer(0); });
        }));
        return found;
    }
    /// One of the first version that has been told so many times.
    void add(const std::string& id, int told) {
        const auto code = entry(&first_code, 1);
        const uuid name({1, 2, 3, 4, 5, 6, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0,
                         static_cast<std::uint8_t>(++named)});
        const auto run = code.begin(name);
        detail::flow_step step;
        unit([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(change(tx,
                                "INSERT INTO workflow_instances (uuid, workflow, version, id,"
                                " status, arguments) VALUES (?, 'Code', 1, ?, ?, ?)",
                                name.to_string(), id, told < 0 ? "starting" : "running",
                                "[\"" + id + "\"]"));
            for (int i = 0; i <= told; ++i) {
                const detail::flow_event event{
                    .kind = i == 0 ? detail::event_kind::start : detail::event_kind::signalled,
                    .command = static_cast<std::uint32_t>(i),
                    .payload = i == 0 ? "[\"" + id + "\"]" : R"({"id":")" + id + "\"}"};
                EXPECT_EQ(run->feed(event, step), detail::event_fit::taken);
                const auto row = record(event, step);
                POSTHORN_TRY(change(
                    tx,
                    "INSERT INTO workflow_history (instance, run, step, at, version, cause,"
                    " command, payload, did, state) SELECT instance, 1, ?, 0, 1, ?, ?, ?, ?, ?"
                    " FROM workflow_instances WHERE id = ?",
                    i + 1, cause_text(event.kind, true), event.command,
                    i == 0 ? std::string() : event.payload, encode_deeds(row),
                    row.state ? std::optional(row.state->text) : std::nullopt, id));
            }
            return {};
        });
    }
    boost::json::object answer(std::string_view method, std::string body = {}) {
        for (const auto& each : routes) {
            if (each.method != method) continue;
            http_request request;
            request.body = std::move(body);
            request.parameters = {{"workflow", "Code"}};
            const auto given = loop.run(each.answer(std::move(request), {.name = "ann"}));
            status = given.status;
            return boost::json::parse(given.body).as_object();
        }
        throw std::logic_error("there is no such route");
    }
    void have(const detail::workflow_entry& code) {
        desk->find_code = [&code](std::string_view workflow, std::int64_t version) {
            return workflow == "Code" && version == code.version() ? &code : nullptr;
        };
    }

    virtual_loop loop;
    logger log = logger::null();
    inline_executor at_once;
    test::temporary_directory folder;
    test::test_environment env{loop, log};
    std::unique_ptr<store> database;
    std::optional<workflow_desk> desk;
    std::vector<admin_route> routes;
    int status = 0;
    int named = 0;
};

TEST_F(version_routes_test, lists_versions_with_what_is_open) {
    add("a", 0);
    add("b", 1);
    unit([](store_transaction& tx) {
        const std::vector<linked_version> linked{{"Code", 1}, {"Code", 2}, {"Other", 1}};
        return note_versions(tx, linked, wall_time(std::chrono::milliseconds(1000)));
    });
    const auto list = answer("GET").at("versions").as_array();
    ASSERT_EQ(list.size(), 3U);
    EXPECT_EQ(list[0].at("state").as_string(), "draining");
    EXPECT_EQ(list[0].at("open").as_int64(), 2);
    EXPECT_EQ(list[1].at("state").as_string(), "active");
    EXPECT_EQ(list[2].at("workflow").as_string(), "Other");
    unit([](store_transaction& tx) {
        const std::vector<linked_version> linked{{"Code", 2}};
        return note_versions(tx, linked, wall_time(std::chrono::milliseconds(2000)));
    });
    EXPECT_EQ(answer("GET").at("versions").as_array()[0].at("state").as_string(), "missing");
}

TEST_F(version_routes_test, a_dry_run_tells_what_would_differ_and_changes_nothing) {
    add("young", 0);
    add("old", 1);
    const auto later = entry(&later_code, 2);
    have(later);
    const auto told = answer("POST", R"({"from":1,"to":2,"dryRun":true})");
    EXPECT_EQ(status, 200);
    EXPECT_EQ(told.at("checked").as_int64(), 2);
    EXPECT_EQ(told.at("alike").as_int64(), 1);
    EXPECT_EQ(told.at("moved").as_int64(), 0);
    ASSERT_EQ(told.at("differing").as_array().size(), 1U);
    EXPECT_EQ(told.at("differing").at(0).at("id").as_string(), "old");
    EXPECT_EQ(told.at("differing").at(0).at("why").as_string(),
              "step 2: recorded wait for ToldSo, the code now sleeps");
    EXPECT_EQ(number("SELECT count(*) FROM workflow_instances WHERE version = 1"), 2);
}

TEST_F(version_routes_test, moves_those_alone_that_come_out_the_same) {
    add("young", 0);
    add("old", 1);
    add("unborn", -1);
    const auto later = entry(&later_code, 2);
    have(later);
    const auto told = answer("POST", R"({"from":1,"to":2,"dryRun":"false"})");
    EXPECT_EQ(told.at("moved").as_int64(), 2);
    EXPECT_EQ(told.at("differ").as_int64(), 1);
    EXPECT_EQ(number("SELECT count(*) FROM workflow_instances WHERE version = 1 AND id = 'old'"),
              1);
    EXPECT_EQ(number("SELECT count(*) FROM workflow_instances WHERE version = 2"), 2);
}

TEST_F(version_routes_test, sees_that_arguments_do_not_fit_before_the_first_step) {
    add("unborn", -1);
    const auto wider = entry(&wider_code, 2);
    have(wider);
    const auto told = answer("POST", R"({"from":1,"to":2})");
    EXPECT_EQ(told.at("moved").as_int64(), 0);
    EXPECT_THAT(std::string(told.at("differing").at(0).at("why").as_string()),
                HasSubstr("1 arguments are given to a workflow that takes 2"));
}

TEST_F(version_routes_test, does_not_move_one_that_took_a_step_since_it_was_looked_at) {
    add("a", 0);
    const auto later = entry(&later_code, 2);
    upgrade_page page;
    ASSERT_TRUE(database->read([&](store_reader& from) -> result<> {
        POSTHORN_LET(seen, look_for_upgrade(from, {"Code", 1, 0, 10}, later));
        page = std::move(seen);
        return {};
    }));
    ASSERT_EQ(page.alike.size(), 1U);
    unit([](store_transaction& tx) -> result<> {
        POSTHORN_TRY(change(tx,
                            "INSERT INTO workflow_history (instance, run, step, at, version,"
                            " cause, command, payload, did)"
                            " SELECT instance, 1, 2, 0, 1, 'signalled', 1, '', ''"
                            " FROM workflow_instances"));
        return {};
    });
    std::int64_t moved = -1;
    unit([&](store_transaction& tx) -> result<> {
        POSTHORN_LET(changed, move_to_version(tx, page.alike, 1, 2));
        moved = changed;
        return {};
    });
    EXPECT_EQ(moved, 0);
}

TEST_F(version_routes_test, names_a_damaged_history_and_goes_on) {
    add("a", 1);
    add("b", 0);
    unit([](store_transaction& tx) -> result<> {
        POSTHORN_TRY(change(tx, "UPDATE workflow_history SET did = '[' WHERE instance = 1"));
        return {};
    });
    const auto later = entry(&later_code, 2);
    have(later);
    const auto told = answer("POST", R"({"from":1,"to":2})");
    EXPECT_EQ(told.at("moved").as_int64(), 1);
    EXPECT_THAT(std::string(told.at("differing").at(0).at("why").as_string()),
                HasSubstr("step 1: its row is damaged"));
}

TEST_F(version_routes_test, refuses_what_is_no_order) {
    EXPECT_EQ(answer("POST", R"({"from":1,"to":2})").at("checked").as_int64(), 0);
    EXPECT_EQ(status, 200) << "there is none to move";
    add("a", 0);
    answer("POST", R"({"from":1,"to":2})");
    EXPECT_EQ(status, 404) << "no code runs here";
    const auto later = entry(&later_code, 2);
    have(later);
    for (const auto* const body :
         {"", "{}", R"({"from":1})", R"({"from":1,"to":1})", R"({"from":"1","to":2})",
          R"({"from":1,"to":2,"dryRun":7})", R"({"from":-1,"to":2})", "[]"}) {
        answer("POST", body);
        EXPECT_EQ(status, 400) << body;
    }
    answer("POST", R"({"from":1,"to":3})");
    EXPECT_EQ(status, 404);
}

}  // namespace
}  // namespace posthorn
