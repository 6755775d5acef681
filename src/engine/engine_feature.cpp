#include "engine/engine_feature.hpp"

#include <array>

#include "engine/code_watch.hpp"
#include "engine/engine.hpp"
#include "engine/routes/version_routes.hpp"
#include "engine/routes/workflow_routes.hpp"
#include "engine/rows/call_ids.hpp"
#include "engine/rows/engine_tables.hpp"
#include "engine/workflow_retention.hpp"
#include "feature/node_builder.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;
using place = feature_option::place;

constexpr std::array workflow_columns{
    feature_column{"WORKFLOW", "workflow"}, feature_column{"ID", "id"},
    feature_column{"VERSION", "version"},   feature_column{"STATUS", "status"},
    feature_column{"STARTED", "startedAt"}, feature_column{"REASON", "reason"}};
constexpr std::array step_columns{
    feature_column{"STEP", "step"},         feature_column{"AT", "at"},
    feature_column{"CAUSE", "cause"},       feature_column{"OF", "command"},
    feature_column{"COMMANDS", "commands"}, feature_column{"STATE", "state"}};
constexpr feature_option which_workflow{
    .name = "workflow", .doc = "its name, from the list", .where = place::path};
constexpr feature_option which_id{
    .name = "id", .doc = "its id, from the list", .where = place::path};
constexpr feature_option how_many{
    .name = "limit", .doc = "how many, at most 1000; 100 unless given", .number = true};
constexpr std::array workflow_list_options{
    feature_option{.name = "status",
                   .doc = "starting, running, paused, quarantined, completed, failed, cancelled"},
    feature_option{.name = "workflow", .doc = "those of this name"},
    feature_option{.name = "id", .doc = "those of this id"},
    feature_option{.name = "version", .doc = "those of this version", .number = true},
    feature_option{.name = "parent", .doc = "children of the one of this 'seq'", .number = true},
    how_many,
    feature_option{.name = "before", .doc = "the next page: what 'next' said", .number = true}};
constexpr std::array one_workflow{which_workflow, which_id};
constexpr std::array workflow_show_options{
    which_workflow, which_id,
    feature_option{
        .name = "at", .doc = "its state after this step, and the one before", .number = true},
    feature_option{.name = "diff",
                   .doc = "what the last step, or that of --at, changed in its state",
                   .flag = true}};
constexpr std::array workflow_history_options{
    which_workflow, which_id, how_many,
    feature_option{.name = "run", .doc = "of the run before this one", .number = true},
    feature_option{.name = "after", .doc = "the next page: what 'next' said", .number = true}};
constexpr std::array workflow_signal_options{
    which_workflow, which_id,
    feature_option{.name = "signal", .doc = "its name", .where = place::body, .word = "name"},
    feature_option{.name = "payload", .doc = "what it says, as JSON", .where = place::body}};
constexpr std::array workflow_cancel_options{
    which_workflow, which_id,
    feature_option{.name = "reason", .doc = "what the workflow is told", .where = place::body}};

constexpr std::array version_columns{
    feature_column{"WORKFLOW", "workflow"}, feature_column{"VERSION", "version"},
    feature_column{"STATE", "state"}, feature_column{"OPEN", "open"},
    feature_column{"QUARANTINED", "quarantined"}};
constexpr std::array upgrade_options{
    which_workflow,
    feature_option{
        .name = "from", .doc = "the version that they have", .where = place::body, .number = true},
    feature_option{.name = "to",
                   .doc = "the version that they are to have",
                   .where = place::body,
                   .number = true},
    feature_option{.name = "dryRun",
                   .doc = "change nothing, and tell for each what would differ",
                   .where = place::body,
                   .flag = true,
                   .word = "dry-run"},
    feature_option{
        .name = "after", .doc = "go on: what 'next' said", .where = place::body, .number = true}};

constexpr std::array workflow_commands{
    feature_command{.name = "list",
                    .summary = "list workflows, the newest first",
                    .method = "GET",
                    .path = "/_rf/workflows",
                    .options = workflow_list_options,
                    .list = "workflows",
                    .columns = workflow_columns,
                    .example = "posthorn workflow list --status quarantined"},
    feature_command{.name = "versions",
                    .summary = "list their versions: which new ones take, and how many are open",
                    .method = "GET",
                    .path = "/_rf/workflow-versions",
                    .list = "versions",
                    .columns = version_columns,
                    .example = "posthorn workflow versions"},
    feature_command{.name = "upgrade",
                    .summary = "give open ones to another version, or see which could be",
                    .method = "POST",
                    .path = "/_rf/workflow-versions/{workflow}/upgrade",
                    .options = upgrade_options,
                    .example = "posthorn workflow upgrade ApproveOrder --from 1 --to 2 --dry-run"
                               " --url http://127.0.0.1:7401"},
    feature_command{.name = "show",
                    .summary = "show one: its state, and what it waits for",
                    .method = "GET",
                    .path = "/_rf/workflows/{workflow}/{id}",
                    .options = workflow_show_options,
                    .example = "posthorn workflow show ApproveOrder o1 --at 2 --diff"},
    feature_command{.name = "history",
                    .summary = "list its steps",
                    .method = "GET",
                    .path = "/_rf/workflows/{workflow}/{id}/history",
                    .options = workflow_history_options,
                    .list = "steps",
                    .columns = step_columns,
                    .example = "posthorn workflow history ApproveOrder o1"},
    feature_command{.name = "signal",
                    .summary = "tell it a signal; kept until it waits for that",
                    .method = "POST",
                    .path = "/_rf/workflows/{workflow}/{id}/signal",
                    .options = workflow_signal_options,
                    .example =
                        "posthorn workflow signal ApproveOrder o1 --name Decided --payload "
                        "'{\"orderId\":\"o1\",\"by\":\"ann\",\"approved\":true,\"level\":3}'"},
    feature_command{.name = "cancel",
                    .summary = "cancel it; what was to be undone is undone",
                    .method = "POST",
                    .path = "/_rf/workflows/{workflow}/{id}/cancel",
                    .options = workflow_cancel_options,
                    .example = "posthorn workflow cancel ApproveOrder o1 --reason 'ordered twice'"},
    feature_command{.name = "terminate",
                    .summary = "end it at once, whatever it is at; nothing is undone",
                    .method = "POST",
                    .path = "/_rf/workflows/{workflow}/{id}/terminate",
                    .options = workflow_cancel_options,
                    .example = "posthorn workflow terminate ApproveOrder o1 --reason 'by mistake'"},
    feature_command{.name = "pause",
                    .summary = "let what comes for it wait",
                    .method = "POST",
                    .path = "/_rf/workflows/{workflow}/{id}/pause",
                    .options = one_workflow,
                    .example = "posthorn workflow pause ApproveOrder o1"},
    feature_command{.name = "resume",
                    .summary = "let it go on, also after a quarantine",
                    .method = "POST",
                    .path = "/_rf/workflows/{workflow}/{id}/resume",
                    .options = one_workflow,
                    .example = "posthorn workflow resume ApproveOrder o1"},
};

constexpr std::array engine_keys{
    feature_key{"cache_bytes", "how much memory suspended workflows may take",
                [] { return feature_value(std::int64_t{256} << 20U); }},
    feature_key{"unclaimed_kept", "how long a signal is kept for a workflow that may wait for it",
                [] { return feature_value(milliseconds(std::chrono::days{7})); }},
    feature_key{"verify_every",
                "one of so many steps is rebuilt from its history and compared; 0: none",
                [] { return feature_value(std::int64_t{100}); }},
    feature_key{"code_limit",
                "how long code may run without waiting before the node stops; 0s: for ever",
                [] { return feature_value(milliseconds(std::chrono::seconds{60})); }},
    feature_key{"completed_kept", "how long workflows that completed are kept; 0s: for ever",
                [] { return feature_value(milliseconds(std::chrono::days{30})); }},
    feature_key{"cancelled_kept", "how long those that were cancelled are kept; 0s: for ever",
                [] { return feature_value(milliseconds(std::chrono::days{30})); }},
    feature_key{"failed_kept", "how long those that failed are kept; 0s: for ever",
                [] { return feature_value(milliseconds::zero()); }},
    feature_key{"signals_kept", "how long signals are kept that were dealt with; 0s: for ever",
                [] { return feature_value(milliseconds(std::chrono::days{10})); }},
    feature_key{"cleanup_interval", "how often what is past that is deleted",
                [] { return feature_value(milliseconds(std::chrono::minutes{5})); }},
};

workflow_retention_options read_retention(const feature_settings& said) {
    const auto kept = [&said](std::string_view key) -> workflow_retention_options::time_kept {
        const auto time = said.get<milliseconds>(key);
        if (time <= milliseconds::zero()) return {};
        return time;
    };
    return {.completed = kept("completed_kept"),
            .cancelled = kept("cancelled_kept"),
            .failed = kept("failed_kept"),
            .signals = kept("signals_kept"),
            .interval = said.get<milliseconds>("cleanup_interval")};
}

result<engine_options> read_options(const feature_settings& said) {
    const auto bytes = said.get<std::int64_t>("cache_bytes");
    const auto kept = said.get<milliseconds>("unclaimed_kept");
    if (bytes < 0)
        return fail(error_code::invalid_configuration,
                    "workflow.cache_bytes is {}; give the number of bytes, or 0 to keep none",
                    bytes);
    if (kept <= milliseconds::zero())
        return fail(
            error_code::invalid_configuration,
            "workflow.unclaimed_kept is not longer than nothing; give a time such as \"7d\"");
    if (said.get<milliseconds>("cleanup_interval") < std::chrono::seconds{1})
        return fail(error_code::invalid_configuration,
                    "workflow.cleanup_interval is less than a second; give a time such as \"5m\"");
    const auto every = said.get<std::int64_t>("verify_every");
    if (every < 0)
        return fail(error_code::invalid_configuration,
                    "workflow.verify_every is {}; give a number of steps, or 0 to compare none",
                    every);
    return engine_options{.cache_bytes = static_cast<std::size_t>(bytes),
                          .unclaimed_kept = kept,
                          .verify_every = every};
}

void write_metrics(prometheus_text& text, const engine& runs) {
    const auto& seen = runs.counters();
    text.counter("posthorn_workflow_steps_total", "Steps of workflows that were committed.",
                 seen.steps);
    text.counter("posthorn_workflow_steps_refused_total",
                 "Steps that were not committed, and are taken again.", seen.refused);
    text.counter("posthorn_workflow_rebuilt_total", "Workflows built again from their history.",
                 seen.rebuilt);
    text.counter("posthorn_workflow_ended_total", "Workflows that ended.", seen.ended);
    text.counter("posthorn_workflow_again_total", "Runs that were followed by another one.",
                 seen.runs);
    text.counter("posthorn_workflow_quarantined_total", "Workflows that were quarantined.",
                 seen.quarantined);
    text.counter("posthorn_workflow_verified_total",
                 "Histories that were repeated to compare them.", seen.verified);
    text.counter("posthorn_workflow_differed_total",
                 "Histories that came out otherwise when they were compared.", seen.differed);
    text.counter("posthorn_workflow_ignored_total",
                 "What came for a workflow that no longer waited for it.", seen.ignored);
    text.counter("posthorn_workflow_unfit_signals_total",
                 "Signals that lack the fields by which workflows wait for them.", seen.unfit);
    text.gauge("posthorn_workflow_frames", "Suspended workflows in memory.",
               static_cast<double>(seen.frames));
    text.gauge("posthorn_workflow_frame_bytes", "What they take.",
               static_cast<double>(seen.frame_bytes));
    text.begin("posthorn_workflow_open", "gauge",
               "Workflows that are open, by name, version and status.");
    for (const auto& each : runs.open())
        text.sample(static_cast<double>(each.count), {{"workflow", each.workflow},
                                                      {"version", std::to_string(each.version)},
                                                      {"status", each.status}});
}

constexpr std::array workflow_odd{
    odd_rows{.table = "workflow_signals",
             .where = "octet_length(signal) > 4096 OR octet_length(payload) > 67108864",
             .why = "they have a name of more than 4,096 bytes or a payload of more than 64 MiB, "
                    "which no message may have: no workflow gets them",
             .todo = "delete them from workflow_signals, and tell the workflow something smaller"},
    odd_rows{.table = "workflow_instances",
             .where = "octet_length(result) > 67108864",
             .why = "they have a result of more than 64 MiB, which is shown as none",
             .todo = "shorten workflow_instances.result"},
    odd_rows{.table = "workflow_instances",
             .where = "status IN ('completed', 'failed', 'cancelled') AND ended_at IS NULL",
             .why = "they have ended and no ended_at, so they are kept for ever",
             .todo = "set workflow_instances.ended_at, in milliseconds since 1970, or delete them"},
    odd_rows{.table = "workflow_mailbox",
             .where = "NOT EXISTS (SELECT 1 FROM {s}.workflow_instances AS i"
                      " WHERE i.instance = workflow_mailbox.instance)",
             .why = "they are for a workflow that is not there: nothing reads them",
             .todo = "delete them from workflow_mailbox"}};

class engine_of_workflows final : public feature {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "workflow"; }
    [[nodiscard]] table_set tables() const noexcept override { return engine_tables(); }
    [[nodiscard]] std::span<const odd_rows> odd() const noexcept override { return workflow_odd; }
    [[nodiscard]] std::span<const feature_key> keys() const noexcept override {
        return engine_keys;
    }

    [[nodiscard]] std::string_view summary() const noexcept override {
        return "look at workflows, and pause, resume, signal or cancel them";
    }
    [[nodiscard]] std::span<const feature_command> commands() const noexcept override {
        return workflow_commands;
    }

    result<> install(node_builder& into) const override {
        POSTHORN_LET(options, read_options(into.settings()));
        auto& desk =
            into.make<workflow_desk>(workflow_desk{.where = into.database(), .env = into.env()});
        for (auto& each : workflow_routes(desk)) into.add(std::move(each));
        for (auto& each : version_routes(desk)) into.add(std::move(each));
        if (into.outbox().empty()) return {};  // No node runs.
        auto& runs = into.run(std::make_unique<engine>(
            engine::deps{.env = into.env(),
                         .where = into.database(),
                         .handlers = into.handlers(),
                         .maker = into.maker(),
                         .has_one_database = &into.database() == &into.inbox_database()},
            options));
        desk.find_code = [&runs](std::string_view workflow, std::int64_t version) {
            return runs.find_code(workflow, version);
        };
        into.run(std::make_unique<workflow_retention>(into.env(), into.database(),
                                                      read_retention(into.settings())));
        const auto limit = into.settings().get<milliseconds>("code_limit");
        if (limit > milliseconds::zero() && into.fail_stop())
            into.run(std::make_unique<code_watch>(into.env(), into.database(), runs.report(), limit,
                                                  into.fail_stop()));
        into.listen(runs);
        into.show(runs);
        into.given_up(std::string(call_prefix), runs.intake());
        into.before_start([&runs] { return runs.prepare(); });
        into.health([&runs] { return runs.worries(); });
        into.metrics([&runs](prometheus_text& text) { write_metrics(text, runs); });
        return {};
    }
};

}  // namespace

const feature& engine_feature() noexcept {
    static const engine_of_workflows one;
    return one;
}

}  // namespace posthorn
