#include "planted/bugs.hpp"

#include <cstdint>

#include <fmt/format.h>

namespace posthorn::planted {
namespace {

/// Worlds from this seed on until one shows it. They change whenever the simulator does, so there
/// are more than are needed today.
harness simulator(std::uint64_t seed, std::uint64_t messages = 200) {
    return {.name = "simulation",
            .program = "planted/sim_planted",
            .arguments = {fmt::format("--seed={}", seed), fmt::format("--messages={}", messages),
                          "--seeds=300", "--until-found"}};
}

/// The same with nothing but power cuts.
harness power_cuts(std::uint64_t seed) {
    auto made = simulator(seed, 100);
    made.name = "power cut";
    made.arguments.emplace_back("--cuts=20");
    return made;
}

/// With workflows among the traffic.
harness workflows(std::uint64_t seed = 1) {
    auto made = simulator(seed, 100);
    made.name = "simulation, workflows";
    made.arguments.emplace_back("--flows=60");
    return made;
}

harness tests_of(std::string name, std::string program, std::string_view filter) {
    return {.name = std::move(name),
            .program = std::move(program),
            .arguments = {fmt::format("--gtest_filter={}", filter)}};
}

/// Real processes, with the bug in those that are started.
harness crash(std::string name, std::string_view filter, int rounds) {
    auto made = tests_of(std::move(name), "crash/crash_tests", filter);
    made.rounds = rounds;
    return made;
}

/// Its nodes are in the process of the test.
harness corruption(int cases) {
    auto made = tests_of("corruption", "planted/crash_tests_planted", "corruption.*");
    made.rounds = cases;
    return made;
}

harness chaos(std::string_view filter, int deliveries) {
    auto made = tests_of("network", "planted/chaos_tests_planted", filter);
    made.rounds = deliveries;
    return made;
}

harness scenario(std::string_view name) {
    return tests_of("simulation, scenario", "planted/sim_planted",
                    fmt::format("scenario.{}", name));
}

/// One row of the table of attacks, on a real node.
harness attack(std::string_view name) {
    return {.name = "attack",
            .program = POSTHORN_PYTHON,
            .arguments = {POSTHORN_SOURCE "/tests/interop/attacks_test.py",
                          POSTHORN_TEST_PROGRAMS "/planted/posthorn_cli_planted", "--failfast",
                          fmt::format("Attacks.test_{}", name)}};
}

/// One claim about webhooks or held work, of a real node and real receivers.
harness webhooks(std::string_view script, std::string_view claim) {
    return {.name = "receivers",
            .program = POSTHORN_PYTHON,
            .arguments = {fmt::format(POSTHORN_SOURCE "/tests/interop/{}_test.py", script),
                          POSTHORN_TEST_PROGRAMS "/planted/posthorn_cli_planted", "-k",
                          fmt::format("test_{}", claim)}};
}

/// What is refused before anybody is asked.
harness door(std::string program, std::string_view filter) {
    return tests_of("limits and signatures", std::move(program), filter);
}

}  // namespace

const std::vector<bug>& bugs() {
    static const std::vector<bug> all{
        // What is promised before it is safe.
        {"ack_before_commit", simulator(21), "invariant [135]"},
        {"normal_in_the_inbox", power_cuts(1), "invariant [1236]"},
        {"dispatch_before_the_sync", scenario("a_row_of_plain_sql_is_not_on_disk_when_it_is_seen"),
         "invariant 2: it left its sender before"},
        {"recovered_rows_unsynced", simulator(45), "invariant [123]"},
        {"full_disk_not_told", crash("disk full", "full_disk.*", 10), "FAILED.*full_disk"},
        {"lost_group_called_done", simulator(3), "invariant [123]"},
        {"settle_before_ack", crash("pause", "pause.of_a_receiver*", 10), "FAILED.*pause"},
        {"batch_judged_by_its_first", simulator(1), "it is sent,? and"},

        // What takes effect and must not, or does so twice.
        {"dispatched_though_refused", simulator(7), "invariant 2"},
        {"dropped_savepoint", simulator(1), "invariant 2"},
        {"retry_with_a_new_id", crash("kill -9", "kill.*", 10), "FAILED.*kill"},
        {"prune_too_early", simulator(10), "invariant 1"},
        {"in_doubt_called_refused", scenario("a_sync_fails_in_the_commit_of_the_sender"),
         "send\\(\\)"},
        {"failed_sync_ignored", scenario("a_sync_fails_in_the_commit_of_the_sender"),
         "has_gone_down"},

        {"lease_without_epoch", simulator(548), "attempts: it is (charged|sent)"},

        // What is not kept as it was.
        {"order_forgotten", simulator(1), "invariant 4"},
        {"response_not_kept", chaos("chaos.*over_http", 4000), "FAILED.*over_http"},

        // What never comes to its end.
        {"retry_stays_held", simulator(1, 50), "invariant 7"},
        {"claim_never_ends", simulator(11, 50), "invariant 7"},
        {"sweeps_only_when_called", simulator(1, 50), "invariant 7"},

        // What the file itself suffers.
        {"wal_guard_off",
         tests_of("WAL reset, step by step", "planted/unit_store_planted", "wal_reset.*"),
         "FAILED.*cannot_be_met_by_a_foreign_checkpoint_while_the_guard_holds"},
        {"pages_written_early",
         tests_of("a large unit, step by step", "planted/unit_store_planted", "a_large_unit.*"),
         "FAILED.*that_fails_takes_nothing_along"},
        {"corruption_unseen", corruption(40), "FAILED.*corruption"},
        {"checkpoint_without_sync", power_cuts(1), "invariant|is damaged"},
        {"restore_keeps_the_epoch",
         tests_of("restore, step by step", "planted/unit_store_planted", "a_restore.*epoch*"),
         "FAILED.*begins_an_epoch_that_nobody_had"},

        // What workflows must not lose, do twice or take for true.
        {"result_without_mail", workflows(), "invariant W4"},
        {"frame_kept_though_refused", workflows(), "invariant (W|7)"},
        {"wait_without_unclaimed", workflows(), "invariant W3"},
        {"signal_without_waits", workflows(), "invariant W3"},
        {"shape_left_out", workflows(), "invariant W3"},
        {"exclusive_for_all", workflows(), "invariant W3"},
        {"timer_row_kept", workflows(), "invariant W5.*sleep"},
        {"loser_left_armed", workflows(), "invariant W5.*wait"},
        {"undos_in_order", workflows(), "invariant W7"},
        {"undo_of_what_failed", workflows(), "invariant W7"},
        {"snapshot_left_out", workflows(), "invariant W1"},
        {"state_left_behind", workflows(), "invariant W6.*it has no step"},
        {"end_not_told", workflows(), "invariant W4"},
        {"children_left_alone", workflows(), "invariant W4.*its parent has ended"},
        {"pin_ignored",
         tests_of("an engine, step by step", "planted/unit_engine_planted",
                  "versions_of_an_engine.leave*"),
         "FAILED.*leave_what_is_in_flight_to_its_own"},
        {"signals_left_behind",
         tests_of("an engine, step by step", "planted/unit_engine_planted",
                  "runs_of_an_engine.get_every*"),
         "FAILED.*get_every_signal"},
        {"request_left_open",
         tests_of("an engine, step by step", "planted/unit_engine_planted",
                  "requests_of_an_engine.that_a_workflow_holds*"),
         "FAILED.*that_a_workflow_holds_when_it_ends_are_refused"},
        {"moved_after_a_step",
         tests_of("an engine, step by step", "planted/unit_engine_planted",
                  "version_routes_test.does_not*"),
         "FAILED.*does_not_move_one_that_took_a_step"},
        {"drained_with_one_open",
         tests_of("an engine, step by step", "planted/unit_engine_planted", "versions.are*"),
         "FAILED.*are_active_draining_drained_or_missing"},
        {"stranger_believed",
         tests_of("an engine, step by step", "planted/unit_engine_planted",
                  "an_engine.believes_no*"),
         "FAILED.*believes_no_response_of_a_stranger"},

        // What a deployed binary may do.
        {"unsigned_binary_loaded", door("planted/unit_workflow_planted", "inspection.*"),
         "FAILED.*refuses_strangers_and_joined_signatures"},
        {"second_filter_missing", door("planted/unit_workflow_planted", "sandbox_plan.*"),
         "FAILED.*has_a_second_filter_that_allows_less"},
        {"neighbours_blamed",
         tests_of("a batch, step by step", "planted/unit_workflow_planted", "batch_blame.*"),
         "FAILED.*runs_one_by_one_what_fell_together"},
        {"runner_believed", door("planted/unit_workflow_planted", "step_check.*"),
         "FAILED.*tells_every_lie"},

        // What strangers may do.
        {"unsigned_ack_believed", attack("an_unsigned_or_forged_200_leaves_the_message_pending"),
         "FAIL: test_"},
        {"old_timestamp_accepted", attack("a_request_five_minutes_and_a_second_off_is_refused"),
         "FAIL: test_"},
        {"destination_not_compared", attack("a_message_for_one_service_is_refused_by_another"),
         "FAIL: test_"},
        {"retired_key_accepted",
         attack("a_retired_key_counts_until_its_date_and_a_revoked_one_not_at_all"), "FAIL: test_"},
        {"body_not_compared", attack("the_same_id_with_a_new_signed_body_is_a_conflict"),
         "FAIL: test_"},
        {"any_user_served", attack("another_user_who_connects_to_the_unix_socket_is_refused"),
         "FAIL: test_"},
        {"signed_without_lengths", door("planted/unit_security_planted", "signature.*:wire_page.*"),
         "FAILED.*a_request_that_was_tampered_with_is_refused"},
        {"frame_length_unchecked", door("planted/unit_transport_planted", "frame_decoder.*"),
         "FAILED.*refuses_a_body_one_byte_too_large"},
        {"payload_in_the_log", simulator(1), "invariant 8"},

        // What subscribers of webhooks get, and where it goes.
        {"child_id_random",
         webhooks("webhooks", "an_event_that_is_fanned_out_again_makes_no_delivery_twice"),
         "FAIL: test_"},
        {"sent_before_the_last_slice",
         webhooks("webhooks", "an_event_is_not_done_before_its_last_delivery_is_stored"),
         "FAIL: test_"},
        {"breaker_charges",
         webhooks("webhooks", "what_is_tried_while_an_endpoint_is_left_alone_is_not_charged"),
         "FAIL: test_"},
        {"secret_of_another_tenant",
         webhooks("webhook_secrets",
                  "tenants_have_secrets_of_their_own_in_files_and_else_the_stored_one_counts"),
         "FAIL: test_"},
        {"guard_before_the_last_look_up",
         webhooks(
             "strangers",
             "a_name_that_changes_its_address_is_called_where_it_was_checked_and_nowhere_else"),
         "FAIL: test_"},
        // What store-and-forward must not lose sight of.
        {"totals_not_lowered",
         webhooks("forward/forward_limits", "what_was_delivered_is_not_counted_any_more"),
         "FAIL: test_"},
        {"discarded_beside_a_send",
         webhooks("forward/forward_limits", "what_is_being_sent_cannot_be_discarded"),
         "FAIL: test_"},
        {"dropped_in_flight",
         tests_of("a lane, step by step", "planted/unit_outbox_planted", "lane_drop.*"),
         "FAILED.*leaves_what_is_on_its_way"},
        {"replay_rate_ignored",
         tests_of("a lane in virtual time", "planted/unit_outbox_planted", "replay_lane.*"),
         "FAILED.*within_five_percent_of_its_rate"},
        {"first_attempt_counted",
         tests_of("a site", "planted/integration_node_planted", "node_forward.what_fails_is_held*"),
         "FAILED.*what_fails_is_held"},
        {"attempt_before_commit",
         tests_of("a site", "planted/integration_node_planted", "node_forward.refuses_what*"),
         "FAILED.*refuses_what_makes_no_sense"},
        {"tracked_apart",
         tests_of("a site", "planted/integration_node_planted",
                  "node_forward.is_tracked_as_delivered_when_its_caller*"),
         "FAILED.*is_tracked_as_delivered"},
        {"corrupt_called_delivered",
         tests_of("a site", "planted/integration_node_planted",
                  "node_forward.a_row_that_is_damaged*"),
         "FAILED.*a_row_that_is_damaged"},
        // What a pair must not lose, or have two of.
        {"role_taken_behind",
         tests_of("every pair of cuts", "planted/unit_standby_planted", "the_role.*"),
         "FAILED.*lacks_something"},
        {"role_said_before_kept",
         tests_of("a pair", "planted/unit_standby_planted", "a_changing_pair.keeps_that*"),
         "FAILED.*before_it_says_so"},
        {"rejoined_without_cutting",
         tests_of("a pair", "planted/unit_standby_planted", "an_old_primary.is_cut*"),
         "FAILED.*is_cut_where_the_histories_part"},
        {"older_epoch_followed",
         tests_of("a pair", "planted/unit_standby_planted", "a_standby.refuses*"),
         "FAILED.*another_service_stream_or_epoch"},
        {"place_by_its_length",
         tests_of("places of a pair", "planted/unit_standby_planted", "places_of_a_pair.*"),
         "FAILED.*decide_how_the_two_go_on"},
        {"order_without_user",
         tests_of("order keys of events", "planted/unit_webhook_planted", "event_keys.*"),
         "FAILED.*tell_users_and_entities_apart"},
    };
    return all;
}

}  // namespace posthorn::planted
