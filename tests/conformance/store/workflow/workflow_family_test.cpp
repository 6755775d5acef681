// What is kept of children, runs, requests and versions, on every database.
#include "conformance/store/workflow/workflow_family_store.hpp"
#include "engine/rows/versions.hpp"
#include "engine/steps/requests.hpp"
#include "engine/steps/run_end.hpp"
#include "engine/steps/upgrade.hpp"

namespace posthorn::conformance {
namespace {

using ::testing::HasSubstr;

TEST_P(workflow_family_store, begins_a_child_that_is_watched_and_tells_its_end_once) {
    const auto parent = add_instance("p");
    begin("p", "c");
    EXPECT_EQ(number("SELECT depth FROM workflow_instances WHERE id = 'c'"), 1);
    EXPECT_EQ(number("SELECT count(*) FROM workflow_watches"), 1);
    const auto child = number("SELECT instance FROM workflow_instances WHERE id = 'c'");
    must([=](store_transaction& tx) {
        return tell_end(tx, child, detail::event_kind::returned, R"("l")");
    });
    EXPECT_EQ(mail_of(parent), 1);
    EXPECT_EQ(kinds_of("p"), R"(returned "l")");
    must([=](store_transaction& tx) {
        return tell_end(tx, child, detail::event_kind::returned, R"("l")");
    });
    EXPECT_EQ(mail_of(parent), 1) << "nothing waits for it any more";
}

TEST_P(workflow_family_store,
       tells_a_parent_that_an_id_was_used_and_takes_a_child_over_in_a_later_run) {
    add_instance("p");
    add_instance("taken");
    begin("p", "taken");
    EXPECT_THAT(kinds_of("p"), HasSubstr("failed W taken was begun before"));
    must("DELETE FROM workflow_mailbox");
    begin("p", "c");
    begin("p", "c");
    EXPECT_THAT(kinds_of("p"), HasSubstr("failed W c was begun before")) << "in the same run";
    must("DELETE FROM workflow_mailbox");
    begin("p", "c", child_fate::abandon, 2);
    EXPECT_EQ(kinds_of("p"), "none");
    EXPECT_EQ(text("SELECT fate FROM workflow_instances WHERE id = 'c'"), "abandon");
    EXPECT_EQ(number("SELECT count(*) FROM workflow_instances"), 3);
    must("UPDATE workflow_instances SET status = 'completed', result = '7' WHERE id = 'c'");
    begin("p", "c", child_fate::cancel, 3);
    EXPECT_EQ(kinds_of("p"), "returned 7") << "it has ended meanwhile";
}

TEST_P(workflow_family_store, refuses_children_that_are_too_deep_or_have_no_id) {
    add_instance("p");
    must("UPDATE workflow_instances SET depth = 64");
    begin("p", "c");
    EXPECT_THAT(kinds_of("p"), HasSubstr("64 deep at most"));
    must("DELETE FROM workflow_mailbox");
    begin("p", "");
    EXPECT_THAT(kinds_of("p"), HasSubstr("has 1 to 500 bytes, and this one has 0"));
    EXPECT_EQ(number("SELECT count(*) FROM workflow_instances"), 1);
}

TEST_P(workflow_family_store, leaves_children_as_was_said_of_each_and_ends_one_at_once) {
    const auto parent = add_instance("p");
    begin("p", "c", child_fate::cancel);
    begin("p", "t", child_fate::terminate);
    begin("p", "a", child_fate::abandon);
    begin("p", "gone", child_fate::cancel);
    must("UPDATE workflow_instances SET status = 'failed' WHERE id = 'gone'");
    must("UPDATE workflow_instances SET status = 'paused' WHERE id = 't'");
    must([=](store_transaction& tx) { return leave_children(tx, parent, "it has ended"); });
    EXPECT_EQ(kinds_of("c"), "cancel it has ended");
    EXPECT_EQ(kinds_of("t"), "terminate it has ended");
    EXPECT_EQ(kinds_of("a"), "none");
    EXPECT_EQ(kinds_of("gone"), "none");
    const auto child = number("SELECT instance FROM workflow_instances WHERE id = 't'");
    const auto end = look<std::optional<mail>>(
        [=](store_reader& from) { return find_termination(from, child); });
    ASSERT_TRUE(end);
    must([&](store_transaction& tx) { return terminate(tx, child, *end, noon, test_maker()); });
    EXPECT_EQ(text("SELECT status || ' ' || reason FROM workflow_instances WHERE id = 't'"),
              "cancelled it has ended");
    EXPECT_EQ(mail_of(child), 0);
    EXPECT_FALSE(look<std::optional<mail>>(
        [=](store_reader& from) { return find_termination(from, child); }));
}

TEST_P(workflow_family_store, refuses_to_attach_a_child_to_those_above_it) {
    add_instance("p");
    begin("p", "c");
    begin("c", "grandchild");
    const auto attach = [&](const std::string& who, const std::string& to) {
        const auto instance =
            number(fmt::format("SELECT instance FROM workflow_instances WHERE id = '{}'", who));
        auto step = step_of(instance, who);
        add_command(step, detail::command_kind::attach, to);
        must("DELETE FROM workflow_watches");
        must([&](store_transaction& tx) {
            step.results.clear();
            return attach_to(tx, step, step.did.commands.front());
        });
    };
    attach("grandchild", "p");
    EXPECT_THAT(kinds_of("grandchild"), HasSubstr("wait for each other"));
    attach("p", "p");
    EXPECT_THAT(kinds_of("p"), HasSubstr("wait for each other"));
    attach("c", "nobody");
    EXPECT_THAT(kinds_of("c"), HasSubstr("there is no workflow W nobody"));
    attach("p", "grandchild");
    EXPECT_EQ(number("SELECT count(*) FROM workflow_watches"), 1);
}

TEST_P(workflow_family_store, hands_state_and_signals_on_to_the_next_run) {
    const auto one = add_instance("a");
    const auto other = add_instance("b");
    wait_for(one, 1, "o1");
    wait_for(other, 1, "o1");
    wait_for(one, 2, "o2");
    tell("o1", 2);  // Both have got it.
    tell("o2", 2);  // This one alone.
    must(
        fmt::format("INSERT INTO workflow_mailbox (instance, kind, payload)"
                    " VALUES ({}, 'cancel', 'enough')",
                    one));
    must(
        fmt::format("INSERT INTO workflow_history (instance, run, step, at, version, cause,"
                    " command, payload, did, state)"
                    " VALUES ({}, 1, 1, 0, 1, 'start', 0, '', '{{}}', '{{\"n\":1}}')",
                    one));
    auto step = step_of(one, "a");
    auto& next = add_command(step, detail::command_kind::again, "");
    next.code = &code_of_version(2);
    step.made.add(detail::command_kind::wait);
    must([&](store_transaction& tx) { return write_next_run(tx, step); });
    EXPECT_EQ(text("SELECT run || ' ' || status || ' ' || version || ' ' || carried"
                   " FROM workflow_instances WHERE id = 'a'"),
              R"(2 starting 2 {"n":1})");
    EXPECT_EQ(kinds_of("a"), "cancel enough") << "what is for no command stays";
    EXPECT_EQ(text("SELECT payload FROM workflow_history"), "[]") << "its own arguments";
    match_all();
    EXPECT_EQ(unclaimed(), 2);
    must("UPDATE workflow_instances SET status = 'running'");
    wait_for(one, 1, "o1");
    wait_for(one, 2, "o2");
    EXPECT_EQ(mail_of(one), 3);
    EXPECT_EQ(mail_of(other), 1);
}

TEST_P(workflow_family_store, answers_or_refuses_a_command_once) {
    const auto one = add_instance("a");
    const auto ask = [&](const std::string& order) {
        must(fmt::format(
            "INSERT INTO workflow_signals (source, message_id, signal, payload, correlation_id)"
            " VALUES ('desk', '01900000-0000-7000-8000-00000000000{}', 'Decided',"
            " '{{\"orderId\":\"{}\",\"level\":2}}', 'asked {}')",
            number("SELECT count(*) FROM workflow_signals") + 1, order, order));
        match_all();
    };
    wait_for(one, 1, "o1", 0, true);
    wait_for(one, 2, "o2", 0, true);
    ask("o1");
    ask("o2");
    for (int i = 0; i < 2; ++i) {
        const auto came =
            look<std::optional<mail>>([=](store_reader& from) { return next_mail(from, one); });
        ASSERT_TRUE(came);
        must([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(hold_request(tx, one, *came));
            return drop_mail(tx, one, *came);
        });
    }
    auto step = step_of(one, "a");
    auto& answer = add_command(step, detail::command_kind::answer, "");
    answer.request = 1;
    for (int i = 0; i < 2; ++i)
        must([&](store_transaction& tx) {
            return answer_request(tx, step, step.did.commands.front(), test_maker());
        });
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages WHERE correlation_id = 'asked o1'"), 1);
    must([&](store_transaction& tx) { return refuse_held(tx, one, test_maker()); });
    must([&](store_transaction& tx) { return refuse_held(tx, one, test_maker()); });
    EXPECT_THAT(text("SELECT headers FROM outbox_messages WHERE correlation_id = 'asked o2'"),
                HasSubstr("has ended without an answer"));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages WHERE message_type = 'Response'"
                     " AND destination = 'desk'"),
              2);
    EXPECT_EQ(number("SELECT count(*) FROM workflow_requests"), 0);
}

constexpr std::string_view a_trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
constexpr step_span a_span{.own = {.trace = {1, 2}, .span = {3}, .flags = 1}};
constexpr std::string_view of_a_span = "00-00000000000000010000000000000002-0000000000000003-01";

TEST_P(workflow_family_store, gives_what_a_step_begins_its_trace_and_a_signal_handed_on_its_own) {
    const auto one = add_instance("a");
    const auto other = add_instance("b");
    auto step = step_of(one, "a");
    step.of.trace = a_trace;
    add_command(step, detail::command_kind::child, "c");
    add_command(step, detail::command_kind::start, "d");
    must([&](store_transaction& tx) { return begin_child(tx, step, step.did.commands[0]); });
    step.span = a_span;
    must([&](store_transaction& tx) { return begin_other(tx, step, step.did.commands[1]); });
    EXPECT_EQ(text("SELECT trace FROM workflow_instances WHERE id = 'c'"), a_trace);
    EXPECT_EQ(text("SELECT trace FROM workflow_instances WHERE id = 'd'"), of_a_span);

    wait_for(one, 1, "o1");
    wait_for(other, 1, "o1");
    tell("o1", 2);  // Both have got it.
    must(fmt::format("UPDATE workflow_signals SET trace = '{}'", a_trace));
    auto last = step_of(one, "a");
    add_command(last, detail::command_kind::again, "");
    last.made.add(detail::command_kind::wait);
    must([&](store_transaction& tx) { return write_next_run(tx, last); });
    EXPECT_EQ(
        number(fmt::format("SELECT count(*) FROM workflow_signals WHERE trace = '{}'", a_trace)),
        2);
}

TEST_P(workflow_family_store, answers_in_the_trace_of_the_step_or_else_of_the_command) {
    const auto one = add_instance("a");
    must([&](store_transaction& tx) -> result<> {
        for (const std::uint32_t command : {1U, 2U, 3U}) {
            POSTHORN_TRY(change(tx,
                                "INSERT INTO workflow_signals (source, message_id, signal, payload,"
                                " correlation_id, trace) VALUES ('desk', ?, 'Decided', '{}', ?, ?)",
                                fmt::format("01900000-0000-7000-8000-00000000000{}", command),
                                fmt::format("asked {}", command), a_trace));
            POSTHORN_TRY(change(tx,
                                "INSERT INTO workflow_requests (instance, command, signal)"
                                " SELECT ?, ?, max(seq) FROM workflow_signals",
                                one, command));
        }
        return {};
    });
    auto step = step_of(one, "a");
    for (const std::uint32_t command : {1U, 2U}) {
        auto& answer = add_command(step, detail::command_kind::answer, "");
        answer.request = command;
        answer.is_refusal = command == 2;
        step.span = command == 1 ? std::optional<step_span>() : a_span;
        must([&](store_transaction& tx) { return answer_request(tx, step, answer, test_maker()); });
    }
    must([&](store_transaction& tx) { return refuse_held(tx, one, test_maker()); });
    const auto headers = [&](int command) {
        return text(fmt::format(
            "SELECT headers FROM outbox_messages WHERE correlation_id = 'asked {}'", command));
    };
    EXPECT_THAT(headers(1), HasSubstr(a_trace)) << "nothing is traced here: it goes on as it came";
    EXPECT_THAT(headers(2), HasSubstr(of_a_span));
    EXPECT_THAT(headers(2), HasSubstr("posthorn-refused"));
    EXPECT_THAT(headers(3), HasSubstr(a_trace)) << "no step has refused it";
    EXPECT_THAT(headers(3), HasSubstr("has ended without an answer"));
}

TEST_P(workflow_family_store, moves_open_instances_to_another_version_unless_they_took_a_step) {
    const auto one = add_instance("a");
    const auto other = add_instance("b");
    must("UPDATE workflow_instances SET version = 1");
    const std::vector<upgradable> both{{one, 1, 0}, {other, 1, 0}};
    must(
        fmt::format("INSERT INTO workflow_history (instance, run, step, at, version, cause,"
                    " command, payload, did) VALUES ({}, 1, 1, 0, 1, 'start', 0, '', '{{}}')",
                    other));
    must([&](store_transaction& tx) -> result<> {
        POSTHORN_LET(moved, move_to_version(tx, both, 1, 2));
        EXPECT_EQ(moved, 1);
        return {};
    });
    EXPECT_EQ(text("SELECT id FROM workflow_instances WHERE version = 2"), "a");
    // A first step that was under way is not stored, and taken again by the other version.
    must("UPDATE workflow_instances SET status = 'starting'");
    for (const std::int64_t version : {1, 2}) {
        auto step = step_of(one, "a");
        step.of.version = version;
        step.cause.event.kind = detail::event_kind::start;
        step.deeds = "{}";
        const auto stored =
            run([&](store_transaction& tx) { return write_step(tx, step, test_maker()); });
        EXPECT_EQ(stored.has_value(), version == 2);
        if (!stored) EXPECT_EQ(stored.error().code(), error_code::state_changed);
    }
    EXPECT_EQ(text("SELECT version || ' ' || status FROM workflow_instances WHERE id = 'a'"),
              "2 running");
}

TEST_P(workflow_family_store, knows_the_versions_of_programs_and_who_needs_them) {
    add_instance("a");
    must("UPDATE workflow_instances SET version = 1");
    const auto note = [&](std::vector<linked_version> linked) {
        must([&](store_transaction& tx) { return note_versions(tx, linked, noon); });
    };
    const auto states = [&] {
        std::string all;
        EXPECT_TRUE(db().read([&](store_reader& from) -> result<> {
            POSTHORN_LET(rows, read_versions(from));
            for (const auto& row : rows)
                all += fmt::format("{} {} {};", row.version, to_string(row.state), row.open);
            return {};
        }));
        return all;
    };
    note({{"W", 1}});
    EXPECT_EQ(states(), "1 active 1;");
    note({{"W", 1}, {"W", 2}});
    EXPECT_EQ(states(), "1 draining 1;2 active 0;");
    note({{"W", 2}});
    EXPECT_EQ(states(), "1 missing 1;2 active 0;");
    must("UPDATE workflow_instances SET status = 'completed'");
    EXPECT_EQ(states(), "1 drained 0;2 active 0;");
}

}  // namespace
}  // namespace posthorn::conformance
