#include "admin/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feature/prometheus_text.hpp"
#include "support/process.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

outbox_counters& busy() {
    static outbox_counters counters;
    static const bool filled = [] {
        counters.sent = 5;
        counters.lanes = 2;
        counters.send_us.record(1'500, 2);
        counters.send_us.record(60'000'000);
        counters.retries.record(0, 4);
        counters.retries.record(7);
        return true;
    }();
    (void)filled;
    return counters;
}

destination_backlog to(std::string name, std::int64_t pending) {
    return {.destination = std::move(name),
            .pending = {pending, false},
            .undeliverable = {},
            .undeliverable_error = {}};
}

metrics_facts facts() {
    metrics_facts made{.service = "orders", .version = "9.8.7", .counters = {&busy()}};
    made.outbox.pending.value = 10;
    made.outbox.dead.value = made.outbox.dead_messages.value = 1;
    made.outbox.expired.value = 2;
    made.outbox.undeliverable.value = 3;
    made.outbox.oldest_age = 1'500ms;
    made.outbox.backlog = {to("billing", 4), to("stock", 3)};
    made.inbox_size.value = 77;
    made.health = judge_health({.outbox = made.outbox});
    return made;
}

TEST(metrics, have_the_names_of_the_document) {
    const auto text = render_metrics(facts());
    for (const auto* line :
         {"\nrf_outbox_failed_count 1\n", "\nrf_outbox_expired_count 2\n", "\nrf_inbox_size 77\n",
          "rf_outbox_pending_count 10\n", "\nrf_inbox_duplicate_count 0\n",
          "# TYPE rf_outbox_send_duration_ms histogram\n",
          "# TYPE rf_outbox_retry_count histogram\n",
          "# TYPE rf_inbox_process_duration_ms histogram\n"})
        EXPECT_THAT(text, HasSubstr(line));
}

TEST(metrics, count_what_became_of_messages_by_destination) {
    outbox_counters counters;
    counters.destinations.add("stock", {.sent = 3, .retried = 2});
    counters.destinations.add("stock", {.dead = 1});
    counters.destinations.add("quiet", {.sent = 1, .expired = 4});
    auto with = facts();
    with.counters = {&counters};
    const auto text = render_metrics(with);
    for (const auto* line :
         {"\nposthorn_outbox_destination_sent_total{destination=\"stock\"} 3\n",
          "\nposthorn_outbox_destination_sent_total{destination=\"quiet\"} 1\n",
          "\nposthorn_outbox_destination_retried_total{destination=\"stock\"} 2\n",
          "\nposthorn_outbox_destination_dead_total{destination=\"stock\"} 1\n",
          "\nposthorn_outbox_destination_dead_total{destination=\"quiet\"} 0\n",
          "\nposthorn_outbox_destination_expired_total{destination=\"quiet\"} 4\n",
          "\nposthorn_outbox_destination_pending{destination=\"stock\"} 3\n",
          "\nposthorn_outbox_destination_pending{destination=\"quiet\"} 0\n"})
        EXPECT_THAT(text, HasSubstr(line));
}

TEST(metrics, tell_only_so_many_destinations_apart) {
    outbox_counters counters;
    for (int i = 0; i < 1000; ++i)
        counters.destinations.add("service " + std::to_string(i), {.sent = 1});
    EXPECT_EQ(counters.destinations.view().size(), counts_of_destinations::names_max + 1);
    auto with = facts();
    with.counters = {&counters};
    EXPECT_THAT(render_metrics(with),
                HasSubstr("posthorn_outbox_destination_sent_total{destination=\"other\"} 900\n"));
}

TEST(metrics, show_durations_in_milliseconds_and_retries_in_parts) {
    const auto text = render_metrics(facts());
    EXPECT_THAT(text, HasSubstr("rf_outbox_send_duration_ms_bucket{le=\"1\"} 0\n"
                                "rf_outbox_send_duration_ms_bucket{le=\"2.5\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("rf_outbox_send_duration_ms_bucket{le=\"+Inf\"} 3\n"
                                "rf_outbox_send_duration_ms_sum 60003\n"
                                "rf_outbox_send_duration_ms_count 3\n"));
    EXPECT_THAT(text, HasSubstr("rf_outbox_retry_count_bucket{le=\"0\"} 4\n"));
    EXPECT_THAT(text, HasSubstr("rf_outbox_retry_count_bucket{le=\"10\"} 5\n"));
}

TEST(metrics, tell_what_waits_for_a_person_though_nothing_moves) {
    auto stuck = facts();
    stuck.outbox.blocked.keys = {{{"stock", "a", ""}, {}, {7, false}},
                                 {{"stock", "b", ""}, {}, {2, false}}};
    outbox_counters unsettled;
    unsettled.settling.failed({error_code::statement_failed, "no"}, 3);
    unsettled.settling.failed({error_code::statement_failed, "no"}, 3);
    stuck.counters.push_back(&unsettled);
    const auto text = render_metrics(stuck);
    EXPECT_THAT(text, HasSubstr("\nposthorn_outbox_blocked_messages 9\n"));
    EXPECT_THAT(text, HasSubstr("\nposthorn_outbox_unrecorded 3\n"));
    EXPECT_THAT(text, HasSubstr("\nposthorn_outbox_settle_failures_total 2\n"));
}

TEST(metrics, raise_the_alarm_for_what_is_undeliverable) {
    const auto text = render_metrics(facts());
    EXPECT_THAT(text, HasSubstr("\nposthorn_outbox_undeliverable 3\n"));
    EXPECT_THAT(text, HasSubstr("\nposthorn_outbox_backlog_age_seconds 1.5\n"));
    EXPECT_THAT(text, HasSubstr("posthorn_health{status=\"red\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("posthorn_health{status=\"green\"} 0\n"));
}

TEST(metrics, show_the_disk_with_less_room_of_two) {
    auto seen = facts();
    seen.disks = {{.state = disk_state::enough, .free = 5'000, .has_ballast = true, .refused = 1},
                  {.state = disk_state::low, .free = 3'000, .refused = 2}};
    const auto text = render_metrics(seen);
    for (const auto* line :
         {"\nposthorn_disk_free_bytes 3000\n", "\nposthorn_disk_ballast 0\n",
          "\nposthorn_disk_state{state=\"low\"} 1\n", "\nposthorn_disk_state{state=\"enough\"} 0\n",
          "\nposthorn_disk_refused_total 3\n"})
        EXPECT_THAT(text, HasSubstr(line));
}

TEST(metrics, say_whether_the_store_is_durable) {
    EXPECT_THAT(render_metrics(facts()), HasSubstr("\nposthorn_store_durable 1\n"));
    auto in_memory = facts();
    in_memory.durable = false;
    EXPECT_THAT(render_metrics(in_memory), HasSubstr("\nposthorn_store_durable 0\n"));
}

TEST(metrics, sum_up_a_node_with_two_databases) {
    auto both = facts();
    both.counters.push_back(&busy());
    const auto text = render_metrics(both);
    EXPECT_THAT(text, HasSubstr("\nposthorn_outbox_sent_total 10\n"));
    EXPECT_THAT(text, HasSubstr("rf_outbox_send_duration_ms_count 6\n"));
}

TEST(metrics, tell_of_backups_the_worse_where_there_are_two_databases) {
    auto seen = facts();
    EXPECT_THAT(render_metrics(seen), Not(HasSubstr("posthorn_backup")));
    seen.backups = {{.made = 3, .failed = 1, .newest = wall_time{5'500ms}, .took = 2s, .bytes = 10},
                    {.made = 4, .failed = 0, .newest = wall_time{7s}, .took = 1s, .bytes = 20}};
    for (const auto* line :
         {"\nposthorn_backups_total 7\n", "\nposthorn_backup_failures_total 1\n",
          "\nposthorn_backup_newest_timestamp_seconds 5.5\n",
          "\nposthorn_backup_duration_seconds 2\n", "\nposthorn_backup_bytes 30\n"})
        EXPECT_THAT(render_metrics(seen), HasSubstr(line));
    seen.backups.back().newest.reset();
    EXPECT_THAT(render_metrics(seen), HasSubstr("posthorn_backup_newest_timestamp_seconds 0\n"));
}

TEST(metrics, name_a_hundred_destinations_and_put_the_rest_together) {
    auto many = facts();
    many.outbox.backlog.clear();
    for (int i = 0; i < 150; ++i) many.outbox.backlog.push_back(to(fmt::format("d{:03}", i), 1));
    many.outbox.pending.value = 200;
    const auto text = render_metrics(many);
    EXPECT_THAT(text, HasSubstr("{destination=\"d099\"} 1\n"));
    EXPECT_THAT(text, Not(HasSubstr("d100")));
    EXPECT_THAT(text, HasSubstr("{destination=\"other\"} 100\n"));
}

TEST(metrics, give_each_label_once_whatever_destinations_are_called) {
    auto odd = facts();
    odd.outbox.backlog = {to("other", 1),
                          to("a\"b\\c\nd", 2),
                          to("\xff", 1),
                          to("\xfe", 1),
                          to(std::string(300, 'x') + "1", 1),
                          to(std::string(300, 'x') + "2", 1)};
    const auto text = render_metrics(odd);
    EXPECT_THAT(text, HasSubstr("{destination=\"a\\\"b\\\\c\\nd\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("{destination=\"other\"} 6\n"));
    const auto checked =
        test::run_process({"/usr/bin/env", "promtool", "check", "metrics"}, {.input = text});
    EXPECT_NE(checked.end.exit_code, 1) << checked.err;
}

TEST(metrics, leave_out_what_a_store_that_cannot_be_read_would_say) {
    auto blind = facts();
    blind.store_read = false;
    const auto text = render_metrics(blind);
    EXPECT_THAT(text, Not(HasSubstr("rf_outbox_pending_count")));
    EXPECT_THAT(text, HasSubstr("posthorn_outbox_sent_total 5\n"));
}

// Its remarks are of the form `name text`; the document's names go against its habits.
TEST(metrics, are_what_promtool_reads_and_it_remarks_on_the_documents_names_alone) {
    for (const bool read : {true, false}) {
        auto shown = facts();
        shown.store_read = read;
        const auto checked = test::run_process({"/usr/bin/env", "promtool", "check", "metrics"},
                                               {.input = render_metrics(shown)});
        EXPECT_TRUE(checked.end.exit_code == 0 || checked.end.exit_code == 3)
            << checked.end.exit_code << checked.err;
        std::istringstream remarks(checked.out + checked.err);
        for (std::string line; std::getline(remarks, line);)
            EXPECT_TRUE(line.starts_with("rf_")) << line;
    }
}

}  // namespace
}  // namespace posthorn
