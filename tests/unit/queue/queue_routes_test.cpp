#include "queue/queue_routes.hpp"

#include <gmock/gmock.h>

#include "message/json_check.hpp"
#include "queue/queue_keeper.hpp"
#include "queue/queue_view.hpp"
#include "support/row_fuzz.hpp"
#include "unit/inbox/inbox_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

/// The routes of a queue over a real database, under virtual time.
class queue_over_http : public inbox_fixture {
protected:
    queue_over_http() {
        handle("Ship", {.run = make_queue_handler(loop.time()),
                        .takes_responses = false,
                        .answers_later = true,
                        .arrived = [this](const message& one) { waits.arrived(one.endpoint); }});
        routes = queue_worker_routes(with);
        for (auto& each : queue_operator_routes(with)) routes.push_back(std::move(each));
    }
    ~queue_over_http() override {
        waiting_.cancel();
        loop.run(waiting_.join());
    }

    void send(std::string payload) {
        EXPECT_EQ(receive(from_orders("Ship", std::move(payload))).what, outcome::delivered);
    }

    task<http_response> asked(std::string path, std::string body, http_request request = {}) {
        request.body = std::move(body);
        std::string route = path;
        if (path == "/_rf/queue/Ship/take") {
            route = "/_rf/queue/{endpoint}/take";
            request.parameters["endpoint"] = "Ship";
        } else if (const auto at = path.find("/jobs/"); at != std::string::npos) {
            const auto number = at + std::string_view("/jobs/").size();
            const auto end = std::min(path.find('/', number), path.size());
            request.parameters["seq"] = path.substr(number, end - number);
            route.replace(number, end - number, "{seq}");
        }
        for (const auto& each : routes)
            if (each.path == route) return each.answer(std::move(request), caller);
        throw std::runtime_error("there is no route " + route);
    }
    http_response ask(std::string path, std::string body = "", std::string query = "") {
        http_request request;
        request.query = std::move(query);
        return loop.run(asked(std::move(path), std::move(body), std::move(request)));
    }
    /// A take that goes on beside the test.
    void begin_take(std::string body, std::function<bool()> has_hung_up = {}) {
        http_request request;
        request.has_hung_up = std::move(has_hung_up);
        waiting_.spawn(
            keep_answer(asked("/_rf/queue/Ship/take", std::move(body), std::move(request))));
        loop.settle();
    }

    queue_waits waits;
    test::test_environment env{loop, log};
    queue_deps with{database(), env, maker, waits, {.attempts_max = 3}, {"Ship"}};
    std::vector<admin_route> routes;
    admin_caller caller{
        .name = "desk", .role = admin_role::operator_, .rights = {.payloads = true}};
    std::vector<http_response> answers;

private:
    task<> keep_answer(task<http_response> answering) {
        answers.push_back(co_await std::move(answering));
    }
    task_group waiting_{loop.executor()};
};

TEST_F(queue_over_http, a_worker_that_waits_gets_a_job_as_soon_as_it_comes) {
    begin_take(R"({"owner":"w1","waitMs":20000})");
    EXPECT_TRUE(answers.empty());
    const auto before = loop.time().wall();
    send("1");
    loop.settle();  // No time passes.
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_THAT(answers[0].body, HasSubstr(R"("payload":1,)"));
    EXPECT_EQ(loop.time().wall(), before);
}

TEST_F(queue_over_http, each_job_wakes_one_of_the_workers_that_wait) {
    begin_take(R"({"owner":"w1","waitMs":20000})");
    begin_take(R"({"owner":"w2","waitMs":20000})");
    send("1");
    loop.settle();
    EXPECT_EQ(answers.size(), 1U);
    send("2");
    loop.settle();
    EXPECT_EQ(answers.size(), 2U);
}

TEST_F(queue_over_http, a_worker_that_waits_in_vain_is_told_after_its_time) {
    begin_take(R"({"owner":"w1","waitMs":20000})");
    loop.run_for(19999ms);
    EXPECT_TRUE(answers.empty());
    loop.run_for(1ms);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].status, 200);
    EXPECT_EQ(answers[0].body, R"({"messages":[]})");
}

TEST_F(queue_over_http, a_worker_that_waits_looks_once_a_second_and_commits_nothing_meanwhile) {
    begin_take(R"({"owner":"w1","waitMs":20000})");
    const auto before = database().units_done();
    loop.run_for(10s);
    EXPECT_EQ(database().units_done(), before);
    // What another process has put there.
    change(
        "INSERT INTO posthorn_queue (message_id, source, endpoint, message_type, payload,"
        " content_type, received_at) VALUES ('i', 'orders', 'Ship', 'Signal', '1',"
        " 'application/json', 0)");
    loop.run_for(1s);
    EXPECT_EQ(answers.size(), 1U);
}

TEST_F(queue_over_http, a_wait_ends_when_the_node_stops) {
    begin_take(R"({"owner":"w1","waitMs":60000})");
    waits.stop();
    loop.settle();
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].body, R"({"messages":[]})");
    begin_take(R"({"owner":"w1","waitMs":60000})");  // And later ones do not begin.
    EXPECT_EQ(answers.size(), 2U);
}

TEST_F(queue_over_http, a_worker_that_has_hung_up_is_given_nothing) {
    begin_take(R"({"owner":"w1","waitMs":60000})", [] { return true; });
    send("1");
    loop.settle();
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_queue WHERE taken_by IS NULL"), 1);
}

TEST_F(queue_over_http, a_payload_that_is_not_text_is_given_as_base64_with_those_behind_it) {
    auto bytes = from_orders("Ship", std::string("\xff\0\x01", 3));
    bytes.content_type = "application/octet-stream";
    EXPECT_EQ(receive(bytes).what, outcome::delivered);
    for (int i = 0; i < 9; ++i) send(std::to_string(i));
    const auto taken = ask("/_rf/queue/Ship/take", R"({"owner":"w1","limit":10})");
    EXPECT_EQ(taken.status, 200);
    EXPECT_THAT(taken.body, HasSubstr(R"("payload":"/wAB","payloadEncoding":"base64")"));
    for (int i = 0; i < 9; ++i)
        EXPECT_THAT(taken.body, HasSubstr(fmt::format(R"("payload":{},)", i)));
    const auto jobs = ask("/_rf/queue/jobs");
    EXPECT_EQ(jobs.status, 200) << "and a person sees it";
}

TEST_F(queue_over_http, a_take_answers_with_rows_of_every_type_and_extreme) {
    test::row_fuzz rows(20'261'118, test::row_fuzz::database::sqlite);
    for (int i = 0; i < 300; ++i)
        loop.run(
            commit(database(), [sql = rows.queue_row("Ship")](store_transaction& tx) -> result<> {
                POSTHORN_TRY(tx.execute(sql, {}));
                return {};
            }));
    send("424242");
    std::string taken;
    do {
        const auto answer = ask("/_rf/queue/Ship/take", R"({"owner":"w1","limit":10})");
        ASSERT_EQ(answer.status, 200) << answer.body;
        ASSERT_TRUE(check_json(answer.body).has_value()) << answer.body;
        taken = answer.body;
        answers.push_back(answer);
    } while (taken != R"({"messages":[]})");
    EXPECT_GT(answers.size(), 3U);
    EXPECT_EQ(
        std::ranges::count_if(
            answers, [](const auto& each) { return each.body.contains(R"("payload":424242,)"); }),
        1)
        << "the good one, once";
}

TEST_F(queue_over_http, a_wait_is_a_minute_at_most) {
    const auto answer = ask("/_rf/queue/Ship/take", R"({"owner":"w1","waitMs":60001})");
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr("waitMs is 0 to 60000"));
}

TEST_F(queue_over_http, a_worker_answers_a_command_with_any_json) {
    auto one = from_orders("Ship", "{}");
    one.type = message_type::command;
    receive(one);
    ask("/_rf/queue/Ship/take", R"({"owner":"w1"})");
    const auto done =
        ask("/_rf/queue/ack", R"({"owner":"w1","seqs":[1],"response":{"a":[1, "b"]}})");
    EXPECT_EQ(done.body, R"({"count":1})");
    EXPECT_EQ(number(R"(SELECT count(*) FROM outbox_messages WHERE message_type = 'Response' AND
                        payload = '{"a":[1, "b"]}')"),
              1);
}

TEST_F(queue_over_http, tells_how_each_queue_is) {
    send("1");
    loop.run_for(10s);
    send("2");
    send("3");
    send("4");
    ask("/_rf/queue/Ship/take", R"({"owner":"w1","limit":2})");
    ask("/_rf/queue/release", R"({"owner":"w1","seqs":[1],"error":"no such sku","giveUp":true})");
    loop.run_for(30s);
    EXPECT_THAT(
        ask("/_rf/queue").body,
        HasSubstr(
            R"("endpoint":"Ship","waiting":2,"taken":1,"workers":1,"givenUp":1,"parked":0,"attemptsMax":1)"));
    EXPECT_THAT(ask("/_rf/queue").body, HasSubstr(R"("oldestWaitingSeconds":30)"));
}

TEST_F(queue_over_http, tells_of_queues_that_are_empty_or_no_longer_configured) {
    change(
        "INSERT INTO posthorn_queue (message_id, source, endpoint, message_type, payload,"
        " content_type, received_at) VALUES ('i', 'orders', 'Gone', 'Signal', '1',"
        " 'application/json', 0)");
    const auto body = ask("/_rf/queue").body;
    EXPECT_THAT(body, HasSubstr(R"("endpoint":"Ship","waiting":0)"));
    EXPECT_THAT(body, HasSubstr(R"("endpoint":"Gone","waiting":1)"));
}

TEST_F(queue_over_http, lists_jobs_by_state_in_pages_and_shows_one) {
    for (const auto* payload : {"1", "2", "3"}) send(payload);
    ask("/_rf/queue/Ship/take", R"({"owner":"w1","limit":2})");
    ask("/_rf/queue/release", R"({"owner":"w1","seqs":[1],"error":"no such sku","giveUp":true})");
    EXPECT_THAT(ask("/_rf/queue/jobs", "", "state=given-up").body,
                testing::AllOf(HasSubstr(R"("seq":1,)"), HasSubstr(R"("error":"no such sku")"),
                               Not(HasSubstr(R"("seq":2,)"))));
    EXPECT_THAT(ask("/_rf/queue/jobs", "", "state=taken").body,
                testing::AllOf(HasSubstr(R"("seq":2,)"), HasSubstr(R"("takenBy":"w1")"),
                               Not(HasSubstr(R"("seq":3,)"))));
    EXPECT_THAT(ask("/_rf/queue/jobs", "", "state=waiting&endpoint=Ship").body,
                testing::AllOf(HasSubstr(R"("seq":3,)"), Not(HasSubstr(R"("seq":2,)"))));
    EXPECT_THAT(ask("/_rf/queue/jobs", "", "limit=2").body, HasSubstr(R"("next":2)"));
    EXPECT_THAT(ask("/_rf/queue/jobs", "", "limit=2&after=2").body, HasSubstr(R"("next":null)"));
    EXPECT_EQ(ask("/_rf/queue/jobs", "", "state=lost").status, 400);

    EXPECT_THAT(ask("/_rf/queue/jobs/3").body, Not(HasSubstr(R"("payload":)")));
    EXPECT_THAT(ask("/_rf/queue/jobs/3", "", "payload=true").body, HasSubstr(R"("payload":"3")"));
    caller.rights.payloads = false;
    EXPECT_EQ(ask("/_rf/queue/jobs/3", "", "payload=true").status, 403);
    EXPECT_EQ(ask("/_rf/queue/jobs/4711").status, 404);
    EXPECT_EQ(ask("/_rf/queue/jobs/x").status, 400);
}

TEST_F(queue_over_http, names_the_job_behind_which_others_of_its_order_key_wait) {
    const auto send_of = [this](std::string key) {
        auto one = from_orders("Ship", "{}");
        one.order_key = std::move(key);
        receive(one);
    };
    for (const auto* key : {"a", "a", "b", "a", ""}) send_of(key);
    ask("/_rf/queue/Ship/take", R"({"owner":"w1","limit":1})");
    EXPECT_THAT(ask("/_rf/queue/jobs/2").body, Not(HasSubstr("waitsBehind")));
    ask("/_rf/queue/release", R"({"owner":"w1","seqs":[1],"giveUp":true})");
    EXPECT_THAT(ask("/_rf/queue").body,
                HasSubstr(R"("waiting":4,"taken":0,"workers":0,"givenUp":1,"parked":2,)"));
    for (const auto* seq : {"2", "4"})
        EXPECT_THAT(ask(std::string("/_rf/queue/jobs/") + seq).body,
                    HasSubstr(R"("waitsBehind":{"seq":1,"messageId":")"));
    for (const auto* seq : {"1", "3", "5"})
        EXPECT_THAT(ask(std::string("/_rf/queue/jobs/") + seq).body, Not(HasSubstr("waitsBehind")));
    const auto page = ask("/_rf/queue/jobs", "", "state=waiting").body;
    EXPECT_THAT(page.substr(page.find(R"("seq":2,)")), HasSubstr(R"("waitsBehind":{"seq":1,)"));
    EXPECT_THAT(page.substr(page.find(R"("seq":4,)")), HasSubstr(R"("waitsBehind":{"seq":1,)"));
    const auto of_b = page.find(R"("seq":3,)");
    EXPECT_THAT(page.substr(of_b, page.find(R"("seq":4,)") - of_b), Not(HasSubstr("waitsBehind")));
    ask("/_rf/queue/jobs/1/retry");
    EXPECT_THAT(ask("/_rf/queue").body, HasSubstr(R"("parked":0)"));
    EXPECT_THAT(ask("/_rf/queue/jobs/2").body, Not(HasSubstr("waitsBehind")));
}

TEST_F(queue_over_http, an_operator_lets_what_was_given_up_be_tried_again) {
    for (const auto* payload : {"1", "2"}) send(payload);
    ask("/_rf/queue/Ship/take", R"({"owner":"w1","limit":2})");
    ask("/_rf/queue/release", R"({"owner":"w1","seqs":[1,2],"giveUp":true})");
    EXPECT_EQ(ask("/_rf/queue/jobs/1/retry").body, R"({"seq":1,"state":"waiting"})");
    EXPECT_EQ(ask("/_rf/queue/retry", R"({"endpoint":"Ship"})").body, R"({"count":1})");
    EXPECT_EQ(ask("/_rf/queue/retry").status, 400);
    EXPECT_THAT(ask("/_rf/queue/Ship/take", R"({"owner":"w1","limit":2})").body,
                testing::AllOf(HasSubstr(R"("seq":1,)"), HasSubstr(R"("seq":2,)")));
}

TEST_F(queue_over_http, an_operator_ends_a_job_and_answers_in_place_of_the_worker) {
    auto one = from_orders("Ship", "{}");
    one.type = message_type::command;
    receive(one);
    EXPECT_EQ(ask("/_rf/queue/jobs/1/finish", R"({"response":"{\"lost\":true}"})").status, 200);
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_queue"), 0);
    EXPECT_EQ(number(R"(SELECT count(*) FROM outbox_messages WHERE payload = '{"lost":true}')"), 1);
    EXPECT_EQ(ask("/_rf/queue/jobs/1/finish").status, 404);
}

TEST_F(queue_over_http, jobs_of_workers_with_sql_of_their_own_are_given_up_too) {
    queue_keeper keeper(database(), env, {.attempts_max = 3});
    send("poison");
    task_group kept(loop.executor());
    kept.spawn(keeper.run());
    change("UPDATE posthorn_queue SET taken_by = 'w1', taken_until = " +
           std::to_string((loop.time().wall() + 60s).time_since_epoch().count()) +
           ", attempts = 3");
    loop.run_for(59s);
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_queue WHERE given_up_at IS NOT NULL"), 0);
    const auto idle = database().units_done();
    loop.run_for(6s);
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_queue WHERE given_up_at IS NOT NULL"), 1);
    EXPECT_THAT(lines.back(), HasSubstr("Job 1 of Ship given up after 3 attempts"));
    EXPECT_EQ(database().units_done(), idle + 1);  // It commits where there is something to do.
    kept.cancel();
    loop.run(kept.join());
}

const wall_time noon{std::chrono::hours{500'000}};

TEST(queue_health, is_red_for_what_was_given_up_and_yellow_for_what_waits_long) {
    const auto of = [](queue_numbers one) { return worries_of({std::move(one)}, 2min, noon); };
    EXPECT_TRUE(of({.endpoint = "Ship", .waiting = 9, .oldest_waiting = noon - 2min}).empty());
    EXPECT_TRUE(of({.endpoint = "Ship", .taken = 9}).empty());
    const auto late = of({.endpoint = "Ship", .waiting = 9, .oldest_waiting = noon - 130s});
    ASSERT_EQ(late.size(), 1U);
    EXPECT_EQ(late[0].how, health_level::yellow);
    EXPECT_EQ(late[0].what,
              "9 jobs wait in the queue 'Ship', the oldest for 130 s; see whether its workers run");
    const auto lost = of({.endpoint = "Ship", .given_up = 1});
    ASSERT_EQ(lost.size(), 1U);
    EXPECT_EQ(lost[0].how, health_level::red);
    EXPECT_EQ(lost[0].what,
              "a job of the queue 'Ship' was given up and waits for a person; see 'posthorn queue "
              "list --state given-up'");
}

TEST(queue_health, says_which_was_given_up_since_when_and_how_many_wait_behind) {
    const auto of = [](queue_numbers one) { return worries_of({std::move(one)}, 2min, noon); };
    const auto behind = of({.endpoint = "Ship",
                            .waiting = 3,
                            .given_up = 2,
                            .parked = 3,
                            .oldest_waiting = noon - 130s,
                            .first_given_up = noted_job{17, wall_time{}}});
    ASSERT_EQ(behind.size(), 2U);
    EXPECT_EQ(behind[0].what,
              "2 jobs of the queue 'Ship' were given up and wait for a person, the first job 17 "
              "since 1970-01-01T00:00:00.000Z, and 3 jobs wait behind one of their order key that "
              "was given up; see 'posthorn queue list --state given-up'");
    EXPECT_EQ(behind[1].what,
              "3 jobs wait in the queue 'Ship', the oldest for 130 s; 3 jobs wait behind one of "
              "their order key that was given up; see whether the workers of the others run");
}

TEST(queue_health, is_yellow_for_times_that_only_a_wrong_clock_has) {
    const auto of = [](queue_numbers one) { return worries_of({std::move(one)}, 2min, noon); };
    EXPECT_TRUE(of({.endpoint = "Ship", .waiting = 1, .oldest_waiting = noon + 5min}).empty());
    const auto early = of({.endpoint = "Ship", .waiting = 1, .oldest_waiting = noon + 6min});
    ASSERT_EQ(early.size(), 1U);
    EXPECT_EQ(early[0].how, health_level::yellow);
    EXPECT_THAT(early[0].what, HasSubstr("a job waits in the queue 'Ship', the oldest of which came"
                                         " at 2027-01-15T08:06:00.000Z by its row"));
    const auto held =
        of({.endpoint = "Ship", .taken = 1, .held_too_long = noted_job{4, noon + 48h}});
    ASSERT_EQ(held.size(), 1U);
    EXPECT_EQ(held[0].how, health_level::yellow);
    EXPECT_THAT(held[0].what, HasSubstr("'posthorn queue retry 4' lets another worker take it"));
}

TEST(queue_metrics, name_each_queue) {
    prometheus_text text;
    write_metrics(text,
                  {{.endpoint = "Ship",
                    .waiting = 3,
                    .taken = 2,
                    .workers = 2,
                    .given_up = 1,
                    .parked = 5,
                    .attempts_max = 7,
                    .oldest_waiting = noon - 90s}},
                  noon);
    const auto written = text.take();
    for (const auto* const line :
         {R"(posthorn_queue_waiting{queue="Ship"} 3)", R"(posthorn_queue_taken{queue="Ship"} 2)",
          R"(posthorn_queue_given_up{queue="Ship"} 1)", R"(posthorn_queue_parked{queue="Ship"} 5)",
          R"(posthorn_queue_workers{queue="Ship"} 2)",
          R"(posthorn_queue_attempts_max{queue="Ship"} 7)",
          R"(posthorn_queue_oldest_waiting_seconds{queue="Ship"} 90)"})
        EXPECT_THAT(written, HasSubstr(line));
}

TEST_F(queue_over_http, a_job_whose_time_is_before_all_times_is_old) {
    change(
        "INSERT INTO posthorn_queue (message_id, source, endpoint, message_type, payload,"
        " content_type, received_at) VALUES ('i', 'orders', 'Ship', 'Signal', '1',"
        " 'application/json', -9223372036854775808)");
    const auto age =
        std::chrono::floor<std::chrono::seconds>(loop.time().wall().time_since_epoch());
    EXPECT_THAT(ask("/_rf/queue").body,
                HasSubstr(fmt::format(R"("oldestWaitingSeconds":{})", age.count())));
}

}  // namespace
}  // namespace posthorn
