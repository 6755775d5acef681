#include "engine/rows/workflow_rows.hpp"

#include <algorithm>
#include <limits>

#include <posthorn/json/decode.hpp>

#include "base/text/utf8.hpp"
#include "engine/rows/call_ids.hpp"
#include "store/rows/stored_time.hpp"

namespace posthorn {

/// What the code did in a step.
struct step_deeds {
    std::vector<recorded_command> commands{};
    std::vector<std::uint32_t> dropped{};
    flow_status status{};
    std::string result{};
    std::optional<raw_json> carried{};  // Of the first step of a run that follows another.
};
POSTHORN_STRUCT(step_deeds)

namespace {

constexpr std::array<std::string_view, 7> status_words{
    "starting", "running", "paused", "quarantined", "completed", "failed", "cancelled"};
constexpr std::array<std::string_view, 11> cause_words{
    "start",   "answered", "died",     "signalled", "elapsed", "done",
    "refused", "cancel",   "returned", "failed",    "stopped"};
constexpr std::array<std::string_view, 3> fate_words{"cancel", "terminate", "abandon"};
constexpr std::string_view without_effect = "unsent";

constexpr std::string_view instance_columns_sql =
    "SELECT instance, uuid, workflow, version, id, run, status, coalesce(tenant, ''),"
    " CASE WHEN octet_length(arguments) <= 67108864 THEN arguments END,"
    " started_at, ended_at, CASE WHEN octet_length(result) <= 67108864 THEN result ELSE '' END,"
    " coalesce(reason, ''), octet_length(arguments),"
    " octet_length(workflow) <= 4096 AND octet_length(id) <= 4096,"
    " CASE WHEN octet_length(carried) > 67108864 THEN NULL ELSE coalesce(carried, '') END,"
    " coalesce(parent, 0), CASE WHEN octet_length(trace) <= 64 THEN trace ELSE '' END"
    " FROM workflow_instances";

struct cause_word {
    detail::event_kind kind{};
    bool may_have_taken_effect = true;
};

std::optional<cause_word> parse_cause(std::string_view text) {
    if (text == without_effect) return cause_word{detail::event_kind::died, false};
    const auto found = std::ranges::find(cause_words, text);
    if (found == cause_words.end()) return {};
    return cause_word{static_cast<detail::event_kind>(found - cause_words.begin())};
}

result<std::optional<instance_row>> one_instance(store_reader& from, std::string_view where,
                                                 std::span<const sql_param> with) {
    std::optional<instance_row> found;
    std::string damage;
    POSTHORN_TRY(from.query(
        fmt::format("{} WHERE {}", instance_columns_sql, where), with, [&](const sql_row& row) {
            const auto name = uuid::parse(row.text(1));
            const auto status = parse_instance_status(row.text(6));
            if (!name || !status)
                damage =
                    "the row of a workflow has no uuid that is one; mend workflow_instances.uuid";
            else if (row.is_null(8))
                damage = fmt::format(
                    "its arguments have {} bytes, which no message may have; cancel it, and give "
                    "it "
                    "less in workflow_instances.arguments",
                    row.integer(13));
            else if (row.integer(14) == 0)
                damage = "its name or its id is longer than 4096 bytes; mend workflow_instances";
            else if (row.integer(0) < 1 || row.integer(5) < 1 || row.integer(5) == INT64_MAX)
                damage = fmt::format(
                    "its row has instance {} and run {}, which are counted from 1 on; mend "
                    "workflow_instances",
                    row.integer(0), row.integer(5));
            else if (row.is_null(15))
                damage =
                    "the state that its last run has left is longer than any state may be; mend "
                    "workflow_instances.carried";
            if (!damage.empty()) return;
            found = instance_row{.instance = row.integer(0),
                                 .name = *name,
                                 .workflow = std::string(row.text(2)),
                                 .version = row.integer(3),
                                 .id = std::string(row.text(4)),
                                 .run = row.integer(5),
                                 .status = *status,
                                 .tenant = std::string(row.text(7)),
                                 .parent = row.integer(16),
                                 .arguments = std::string(row.text(8)),
                                 .carried = std::string(row.text(15)),
                                 .started_at = row.integer(9),
                                 .ended_at = row.get<std::optional<std::int64_t>>(10),
                                 .result = std::string(row.text(11)),
                                 .reason = std::string(row.text(12)),
                                 .trace = std::string(row.text(17))};
        }));
    if (!damage.empty()) return fail(error_code::store_corrupt, "{}", damage);
    return found;
}

}  // namespace

std::string_view to_string(instance_status status) noexcept {
    return status_words[static_cast<std::size_t>(status)];
}

std::optional<instance_status> parse_instance_status(std::string_view text) noexcept {
    const auto found = std::ranges::find(status_words, text);
    if (found == status_words.end()) return {};
    return static_cast<instance_status>(found - status_words.begin());
}

instance_status status_of(flow_status status) noexcept {
    switch (status) {
        case flow_status::running: return instance_status::running;
        case flow_status::completed: return instance_status::completed;
        case flow_status::failed: return instance_status::failed;
        case flow_status::cancelled: return instance_status::cancelled;
        case flow_status::quarantined: break;
    }
    return instance_status::quarantined;
}

std::string_view fate_text(child_fate fate) noexcept {
    return fate_words[static_cast<std::size_t>(fate)];
}

std::string_view cause_text(detail::event_kind kind, bool may_have_taken_effect) {
    if (kind == detail::event_kind::died && !may_have_taken_effect) return without_effect;
    return cause_words[static_cast<std::size_t>(kind)];
}

uuid run_name(const instance_row& of) {
    return of.run == 1 ? of.name : id_of({.instance = of.name, .run = of.run});
}

result<std::optional<instance_row>> find_instance(store_reader& from, std::int64_t instance) {
    return one_instance(from, "instance = ?", detail::sql_params(instance));
}

result<std::optional<instance_row>> find_instance(store_reader& from, std::string_view workflow,
                                                  std::string_view id) {
    return one_instance(from, "workflow = ? AND id = ?", detail::sql_params(workflow, id));
}

result<std::optional<mail>> next_mail(store_reader& from, std::int64_t instance) {
    std::optional<mail> found;
    std::string damage;
    POSTHORN_TRY(ask(
        from,
        "SELECT m.seq, m.command, substr(m.kind, 1, 100),"
        " CASE WHEN octet_length(coalesce(m.payload, s.payload, '')) <= 67108864"
        "  THEN coalesce(m.payload, s.payload, '') END,"
        " coalesce(m.signal, 0), m.alone, octet_length(coalesce(m.payload, s.payload, '')),"
        " CASE WHEN octet_length(s.trace) <= 64 THEN s.trace ELSE '' END"
        " FROM workflow_mailbox m"
        " JOIN workflow_instances i ON i.instance = m.instance AND i.status = 'running'"
        " LEFT JOIN workflow_signals s ON s.seq = m.signal"
        " WHERE m.instance = ? ORDER BY m.seq LIMIT 1",
        [&](const sql_row& row) {
            const auto cause = parse_cause(row.text(2));
            const bool is_nudge = row.text(2) == nudge_text;
            const bool is_end = row.text(2) == termination_text;
            if (!cause && !is_nudge && !is_end)
                damage = fmt::format("is of no known kind: {}", clean_utf8(row.text(2), 100));
            else if (row.is_null(3))
                damage = fmt::format("has {} bytes, which no message may have; delete it",
                                     row.integer(6));
            found = mail{.seq = row.integer(0),
                         .event = {.kind = cause ? cause->kind : detail::event_kind::cancel,
                                   .command = row.get<std::uint32_t>(1),
                                   .may_have_taken_effect = !cause || cause->may_have_taken_effect,
                                   .payload = std::string(row.text(3))},
                         .signal = row.integer(4),
                         .trace = std::string(row.text(7)),
                         .alone = row.integer(5) != 0,
                         .is_nudge = is_nudge,
                         .is_end = is_end};
        },
        instance));
    if (!damage.empty())
        return fail(error_code::store_corrupt, "row {} of workflow_mailbox {}", found->seq, damage);
    return found;
}

result<std::optional<mail>> find_termination(store_reader& from, std::int64_t instance) {
    std::optional<mail> found;
    POSTHORN_TRY(ask(
        from,
        "SELECT m.seq, substr(coalesce(m.payload, ''), 1, 4096) FROM workflow_mailbox m"
        " JOIN workflow_instances i ON i.instance = m.instance"
        " AND i.status IN ('starting', 'running', 'paused', 'quarantined')"
        " WHERE m.instance = ? AND m.kind = 'terminate' ORDER BY m.seq LIMIT 1",
        [&](const sql_row& row) {
            found = mail{
                .seq = row.integer(0),
                .event = {.kind = detail::event_kind::cancel, .payload = std::string(row.text(1))},
                .is_end = true};
        },
        instance));
    return found;
}

result<stored_steps> read_steps(store_reader& from, const instance_row& of, step_range which) {
    stored_steps found;
    auto& [steps, damage] = found;
    const auto take = [&](const sql_row& row) {
        if (damage) return;
        const auto number = which.after + std::ssize(steps) + 1;
        const auto cause = parse_cause(row.text(2));
        if (std::cmp_not_equal(row.integer(0), number)) {
            damage.emplace(error_code::store_corrupt,
                           fmt::format("step {}: its row is missing", number));
            return;
        }
        try {
            auto deeds = decode<step_deeds>(row.text(5));
            if (!cause)
                throw error(error_code::invalid_payload,
                            fmt::format("its cause is {}", row.text(2)));
            steps.push_back(
                {.cause = cause->kind,
                 .command = row.get<std::uint32_t>(3),
                 .may_have_taken_effect = cause->may_have_taken_effect,
                 .at_ms = to_ms(bounded_from_ms(row.integer(1))),
                 // Those of the first run lie in the instance's own row, until the
                 // next one has others.
                 .payload = cause->kind == detail::event_kind::start && row.text(4).empty()
                                ? of.arguments
                                : std::string(row.text(4)),
                 .commands = std::move(deeds.commands),
                 .dropped = std::move(deeds.dropped),
                 .status = deeds.status,
                 .result = std::move(deeds.result)});
            steps.back().carried = std::move(deeds.carried);
            if (!row.is_null(6)) steps.back().state = raw_json{std::string(row.text(6))};
        } catch (const error& damaged) {
            damage.emplace(error_code::store_corrupt,
                           fmt::format("step {}: its row is damaged: {}", number, damaged.what()));
        }
    };
    POSTHORN_TRY(ask(from,
                     "SELECT step, at, cause, command, payload, did, state FROM workflow_history"
                     " WHERE instance = ? AND run = ? AND step > ? ORDER BY step LIMIT ?",
                     take, of.instance, of.run, which.after, which.count));
    return found;
}

result<std::vector<recorded_step>> read_history(store_reader& from, const instance_row& of) {
    POSTHORN_LET(found, read_steps(from, of, {}));
    if (found.damage) return std::unexpected(*std::move(found.damage));
    return std::move(found.steps);
}

std::string encode_deeds(const recorded_step& step) {
    return encode(step_deeds{step.commands, step.dropped, step.status, step.result, step.carried});
}

result<std::string> read_state(store_reader& from, const instance_row& of,
                               std::int64_t up_to_step) {
    std::string state;
    POSTHORN_TRY(ask(
        from,
        "SELECT state FROM workflow_history WHERE instance = ? AND run = ? AND step <= ?"
        " AND state IS NOT NULL ORDER BY step DESC LIMIT 1",
        [&](const sql_row& row) { state = row.text(0); }, of.instance, of.run, up_to_step));
    return state.empty() ? of.carried : state;
}

result<std::int64_t> count_steps(store_reader& from, const instance_row& of) {
    std::int64_t steps = 0;
    POSTHORN_TRY(ask(
        from, "SELECT coalesce(max(step), 0) FROM workflow_history WHERE instance = ? AND run = ?",
        [&](const sql_row& row) { steps = std::max<std::int64_t>(row.integer(0), 0); }, of.instance,
        of.run));
    return steps;
}

result<std::optional<workflow_view>> view_instance(store_reader& from, std::string_view workflow,
                                                   std::string_view id) {
    POSTHORN_LET(found, find_instance(from, workflow, id));
    if (!found) return std::nullopt;
    POSTHORN_LET(steps, count_steps(from, *found));
    POSTHORN_LET(state, read_state(from, *found));
    workflow_view seen{.instance = found->name,
                       .version = static_cast<unsigned>(std::clamp<std::int64_t>(
                           found->version, 0, std::numeric_limits<unsigned>::max())),
                       .is_paused = found->status == instance_status::paused,
                       .run = found->run,
                       .steps = static_cast<std::size_t>(steps),
                       .state = std::move(state),
                       .result = std::move(found->result),
                       .reason = std::move(found->reason)};
    switch (found->status) {
        case instance_status::starting:
        case instance_status::running:
        case instance_status::paused: break;
        case instance_status::quarantined: seen.status = flow_status::quarantined; break;
        case instance_status::completed: seen.status = flow_status::completed; break;
        case instance_status::failed: seen.status = flow_status::failed; break;
        case instance_status::cancelled: seen.status = flow_status::cancelled; break;
    }
    return seen;
}

}  // namespace posthorn
