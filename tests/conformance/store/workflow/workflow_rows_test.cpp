// What is kept of workflows, and how signals find those who wait, on every database.
#include "conformance/store/workflow/workflow_store.hpp"

namespace posthorn::conformance {
namespace {

using ::testing::HasSubstr;

TEST_P(workflow_store, starts_a_workflow_with_one_row_of_plain_sql) {
    db();
    ASSERT_EQ(disk().connect()->run(
                  R"(INSERT INTO workflow_instances (workflow, id, arguments)
                     VALUES ('W', 'o1', '["x"]'))"),
              std::nullopt);
    const auto found = look<std::optional<instance_row>>(
        [](store_reader& from) { return find_instance(from, "W", "o1"); });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->status, instance_status::starting);
    EXPECT_EQ(found->arguments, R"(["x"])");
    EXPECT_EQ(found->version, 0);
    EXPECT_NE(found->name, uuid{});
    EXPECT_NE(
        disk().connect()->run("INSERT INTO workflow_instances (workflow, id) VALUES ('W', 'o1')"),
        std::nullopt)
        << "an id is used once";
}

TEST_P(workflow_store, gives_a_workflow_and_its_wait_the_trace_of_the_signal) {
    const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const auto tell_traced = [&](const std::string& trace_value) {
        must(
            fmt::format("INSERT INTO workflow_signals (signal, payload, trace) VALUES ('Decided',"
                        " '{{\"orderId\":\"o1\",\"level\":2}}', {})",
                        trace_value));
    };
    const auto waiting = add_instance("a");
    wait_for(waiting, 1, "o1");
    detail::start_rule on;
    on.signal = "Decided";
    on.field = "orderId";
    on.type = detail::match_type::text;
    const std::vector<starting_rule> starts{{.workflow = "Started", .version = 1, .on = on}};
    tell_traced("'" + trace + "'");
    const auto signal = number("SELECT max(seq) FROM workflow_signals");
    must([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(match_signal(tx, signal, {.starts = starts}, noon));
        return {};
    });
    const auto started = look<std::optional<instance_row>>(
        [](store_reader& from) { return find_instance(from, "Started", "o1"); });
    ASSERT_TRUE(started);
    EXPECT_EQ(started->trace, trace);
    const auto came =
        look<std::optional<mail>>([&](store_reader& from) { return next_mail(from, waiting); });
    ASSERT_TRUE(came);
    EXPECT_EQ(came->trace, trace);

    // What plain SQL writes there is data: too long a text is none.
    must("UPDATE workflow_instances SET trace = '" + std::string(5'000, 'x') + "'");
    const auto odd = look<std::optional<instance_row>>(
        [](store_reader& from) { return find_instance(from, "Started", "o1"); });
    ASSERT_TRUE(odd);
    EXPECT_EQ(odd->trace, "");
}

TEST_P(workflow_store, gives_a_signal_to_every_wait_that_it_fits_and_to_no_other) {
    const auto first = add_instance("a");
    const auto second = add_instance("b");
    const auto choosy = add_instance("c");
    const auto other = add_instance("d");
    wait_for(first, 1, "o1");
    wait_for(second, 1, "o1");
    wait_for(choosy, 1, "o1", 3);
    wait_for(other, 1, "o2");
    tell("o1", 2);
    EXPECT_EQ(mail_of(first), 1);
    EXPECT_EQ(mail_of(second), 1);
    EXPECT_EQ(mail_of(choosy), 0);
    EXPECT_EQ(mail_of(other), 0);
    EXPECT_EQ(unclaimed(), 0);
    tell("o1", 2);  // The waits are taken; it waits for the next.
    EXPECT_EQ(mail_of(first), 1);
    EXPECT_EQ(unclaimed(), 1);
}

TEST_P(workflow_store, gives_a_signal_to_a_workflow_once_however_often_it_waits) {
    const auto one = add_instance("a");
    wait_for(one, 1, "o1");
    wait_for(one, 2, "o1");
    tell("o1", 2);
    EXPECT_EQ(mail_of(one), 1);
    EXPECT_EQ(number("SELECT command FROM workflow_mailbox"), 1);
}

TEST_P(workflow_store, gives_a_signal_to_the_oldest_of_exclusive_waits) {
    const auto younger = add_instance("a");
    const auto older = add_instance("b");
    wait_for(older, 1, "o1", 0, true);
    wait_for(younger, 1, "o1", 0, true);
    tell("o1", 2);
    EXPECT_EQ(mail_of(older), 1);
    EXPECT_EQ(mail_of(younger), 0);
}

TEST_P(workflow_store, keeps_a_signal_until_the_first_wait_that_it_fits_whatever_its_shape) {
    tell("o1", 2);
    EXPECT_EQ(unclaimed(), 1);
    const auto choosy = add_instance("a");
    wait_for(choosy, 1, "o1", 3);
    EXPECT_EQ(mail_of(choosy), 0);
    const auto fitting = add_instance("b");
    wait_for(fitting, 1, "o1", 1);
    EXPECT_EQ(mail_of(fitting), 1);
    EXPECT_EQ(unclaimed(), 0);
    const auto late = add_instance("c");
    wait_for(late, 1, "o1");
    EXPECT_EQ(mail_of(late), 0) << "it was taken";
}

TEST_P(workflow_store, finds_many_early_signals_by_a_new_set_of_fields_in_slices) {
    must(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
        " INSERT INTO workflow_signals (signal, payload, matched_at)"
        " SELECT 'Decided', '{\"orderId\":\"o' || i || '\",\"level\":2}', 1 FROM n ORDER BY i");
    must(
        "INSERT INTO workflow_unclaimed (signal, shape, key, seq, expires_at)"
        " SELECT signal, '', '', seq, 9000000000000 FROM workflow_signals");
    const auto one = add_instance("a");
    const auto other = add_instance("b");
    wait_for(one, 1, "o7");
    wait_for(one, 2, "o350");
    wait_for(other, 1, "o350");
    EXPECT_EQ(mail_of(one), 1) << "the oldest are found at once";
    EXPECT_EQ(mail_of(other), 0);
    EXPECT_TRUE(index_slice());
    EXPECT_EQ(mail_of(one), 2) << "of those who wait for it the first gets it";
    EXPECT_EQ(mail_of(other), 0);
    EXPECT_EQ(unclaimed(), 398);
    EXPECT_FALSE(index_slice());
    wait_for(other, 2, "o400");
    EXPECT_EQ(mail_of(other), 1);
}

TEST_P(workflow_store, finds_the_early_signal_that_a_wait_fits_behind_many_that_it_does_not) {
    must(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)"
        " INSERT INTO workflow_signals (signal, payload)"
        " SELECT 'Decided', '{\"orderId\":\"o1\",\"level\":' || i || '}' FROM n ORDER BY i");
    match_all();
    const auto one = add_instance("a");
    wait_for(one, 1, "o1", 601);
    for (int i = 0; i < 4; ++i) index_slice();
    EXPECT_FALSE(index_slice());
    EXPECT_EQ(mail_of(one), 0);
    wait_for(one, 2, "o1", 555);
    EXPECT_EQ(mail_of(one), 1);
    EXPECT_EQ(number("SELECT signal FROM workflow_mailbox"), 555);
    wait_for(one, 3, "o1");
    EXPECT_EQ(number("SELECT max(signal) + min(signal) FROM workflow_mailbox"), 556)
        << "of all that fit the oldest";
}

TEST_P(workflow_store, gives_a_signal_back_that_came_for_a_wait_which_is_over) {
    const auto one = add_instance("a");
    wait_for(one, 1, "o1");
    tell("o1", 2);
    EXPECT_EQ(mail_of(one), 1);
    must([=](store_transaction& tx) { return drop_wait(tx, one, 1); });
    EXPECT_EQ(mail_of(one), 0);
    match_all();
    EXPECT_EQ(unclaimed(), 1);
    wait_for(one, 2, "o1");
    EXPECT_EQ(mail_of(one), 1);
}

TEST_P(workflow_store, lets_a_wait_go_on_that_got_what_it_cannot_read) {
    const auto one = add_instance("a");
    wait_for(one, 1, "o1");
    tell("o1", 2);
    tell("o1", 3);
    const auto first =
        look<std::optional<mail>>([=](store_reader& from) { return next_mail(from, one); });
    ASSERT_TRUE(first);
    EXPECT_THAT(first->event.payload, HasSubstr(R"("level":2)"));
    must([=](store_transaction& tx) {
        return refuse_signal(tx, one, *first, "it is odd", test_maker());
    });
    const auto second =
        look<std::optional<mail>>([=](store_reader& from) { return next_mail(from, one); });
    ASSERT_TRUE(second);
    EXPECT_THAT(second->event.payload, HasSubstr(R"("level":3)"));
}

TEST_P(workflow_store, takes_a_step_once) {
    const auto one = add_instance("a");
    must(
        fmt::format("INSERT INTO workflow_mailbox (instance, kind, payload)"
                    " VALUES ({}, 'cancel', 'enough')",
                    one));
    const auto cause =
        look<std::optional<mail>>([=](store_reader& from) { return next_mail(from, one); });
    ASSERT_TRUE(cause);
    pending_step step{.of = {.instance = one, .workflow = "W", .version = 1, .id = "a"},
                      .cause = *cause};
    step.did.status = flow_status::cancelled;
    step.did.result = "enough";
    step.deeds = encode_deeds(record(cause->event, step.did));
    const auto& maker = test_maker();
    must([&](store_transaction& tx) { return write_step(tx, step, maker); });
    EXPECT_EQ(text("SELECT status || ' ' || reason FROM workflow_instances"), "cancelled enough");
    const auto again = run([&](store_transaction& tx) { return write_step(tx, step, maker); });
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code(), error_code::state_changed);
    const auto history = look<std::vector<recorded_step>>(
        [=](store_reader& from) { return read_history(from, {.instance = one}); });
    ASSERT_EQ(history.size(), 1U);
    EXPECT_EQ(history.front(), record(cause->event, step.did));
}

TEST_P(workflow_store, names_the_step_whose_row_is_missing_or_damaged) {
    const auto one = add_instance("a");
    const auto error_of = [&] {
        std::string said;
        EXPECT_TRUE(db().read([&](store_reader& from) -> result<> {
            const auto read = read_history(from, {.instance = one});
            if (!read) said = read.error().what();
            return {};
        }));
        return said;
    };
    must(
        fmt::format("INSERT INTO workflow_history (instance, run, step, at, version, cause,"
                    " command, payload, did) VALUES ({}, 1, 2, 0, 1, 'done', 1, '', '{{}}')",
                    one));
    EXPECT_EQ(error_of(), "step 1: its row is missing");
    must("UPDATE workflow_history SET step = 1, did = '[1'");
    EXPECT_THAT(error_of(), HasSubstr("step 1: its row is damaged"));
}

TEST_P(workflow_store, looks_a_signal_up_by_eight_sets_of_fields_at_most) {
    const auto one = add_instance("a");
    std::uint32_t command = 0;
    const auto wait_by = [&](const std::string& field) {
        const auto terms = fmt::format(R"([["{}","==","integer",1]])", field);
        return run([&, terms](store_transaction& tx) {
            return add_wait(
                tx, {.instance = one, .command = ++command, .signal = "Decided", .terms = terms});
        });
    };
    for (const auto* field : {"a", "b", "c", "d", "e", "f", "g", "h"}) ASSERT_TRUE(wait_by(field));
    ASSERT_TRUE(wait_by("a"));
    const auto ninth = wait_by("i");
    ASSERT_FALSE(ninth);
    EXPECT_EQ(ninth.error().code(), error_code::invalid_argument);
    must("DELETE FROM workflow_waits WHERE command = 2");
    ASSERT_TRUE(wait_by("i")) << "a shape that no wait has makes room";
    EXPECT_EQ(number("SELECT count(*) FROM workflow_shapes"), 8);
}

TEST_P(workflow_store, deletes_what_ended_long_ago_with_its_history) {
    must(
        "INSERT INTO workflow_instances (workflow, id, status, ended_at) VALUES"
        " ('W', 'old', 'completed', 10), ('W', 'new', 'completed', 200),"
        " ('W', 'bad', 'failed', 10), ('W', 'open', 'running', NULL)");
    must(
        "INSERT INTO workflow_history (instance, run, step, at, version, cause, command, payload,"
        " did) SELECT i.instance, 1, n.step, 0, 1, 'start', 0, '', '' FROM workflow_instances i,"
        " (SELECT 1 AS step UNION SELECT 2 UNION SELECT 3) n");
    const wall_time before{std::chrono::milliseconds(100)};
    const real_clock time;
    const auto purge = [&](std::size_t rows) {
        slice_outcome done;
        must([&](store_transaction& tx) -> result<> {
            const slice room(time, rows, std::chrono::hours(1));
            POSTHORN_LET(outcome, purge_ended(tx, instance_status::completed, before, room));
            done = outcome;
            return {};
        });
        return done;
    };
    const std::string steps =
        "SELECT count(*) FROM workflow_history h JOIN workflow_instances i"
        " ON i.instance = h.instance WHERE i.id = 'old'";
    EXPECT_TRUE(purge(2).more);
    EXPECT_EQ(number(steps + " AND h.step = 1"), 1) << "what is left can be read";
    EXPECT_EQ(number(steps), 1);
    EXPECT_FALSE(purge(100).more);
    EXPECT_EQ(number("SELECT count(*) FROM workflow_instances"), 3);
    EXPECT_EQ(number("SELECT count(*) FROM workflow_history"), 9);
    EXPECT_EQ(number("SELECT count(*) FROM workflow_instances WHERE id = 'old'"), 0);
}

TEST_P(workflow_store, finds_signals_that_no_workflow_can_get_any_more) {
    const auto one = add_instance("a");
    wait_for(one, 1, "o1");
    tell("o1", 2);  // In a mailbox.
    tell("o2", 2);  // Unclaimed.
    tell("o3", 2);
    must("DELETE FROM workflow_unclaimed WHERE seq = 3");
    must("INSERT INTO workflow_signals (signal, payload) VALUES ('Decided', '{}')");  // Unmatched.
    const auto spent = [this](wall_time before) {
        return look<std::vector<std::int64_t>>(
            [&](store_reader& from) { return find_spent_signals(from, before, 10); });
    };
    const wall_time later{std::chrono::days(100'000)};
    EXPECT_EQ(spent(later), std::vector<std::int64_t>{3});
    EXPECT_EQ(spent(wall_time{}), std::vector<std::int64_t>{});
    must("DELETE FROM workflow_mailbox");
    EXPECT_EQ(spent(later), (std::vector<std::int64_t>{1, 3}));
}

}  // namespace
}  // namespace posthorn::conformance
