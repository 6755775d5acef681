#include "queue/queue_feature.hpp"

#include <algorithm>
#include <array>

#include "base/text/counted.hpp"
#include "feature/node_builder.hpp"
#include "queue/queue.hpp"
#include "queue/queue_keeper.hpp"
#include "queue/queue_routes.hpp"
#include "queue/queue_view.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

constexpr std::array queue_keys{
    feature_key{"max_attempts", "a job that was taken so often is given up; 0 is never",
                [] { return feature_value(std::int64_t{20}); }},
    feature_key{"alarm_after", "health is yellow when a job has waited for so long",
                [] { return feature_value(milliseconds(std::chrono::minutes{2})); }},
};

using place = feature_option::place;
constexpr std::array stats_columns{feature_column{"QUEUE", "endpoint"},
                                   feature_column{"WAITING", "waiting"},
                                   feature_column{"TAKEN", "taken"},
                                   feature_column{"WORKERS", "workers"},
                                   feature_column{"GIVEN UP", "givenUp"},
                                   feature_column{"PARKED", "parked"},
                                   feature_column{"OLDEST", "oldestWaitingSince"},
                                   feature_column{"ATTEMPTS", "attemptsMax"}};
constexpr std::array list_columns{feature_column{"SEQ", "seq"},
                                  feature_column{"QUEUE", "endpoint"},
                                  feature_column{"STATE", "state"},
                                  feature_column{"ATTEMPTS", "attempts"},
                                  feature_column{"RECEIVED", "receivedAt"},
                                  feature_column{"WORKER", "takenBy"},
                                  feature_column{"ERROR", "error"}};
constexpr std::array list_options{
    feature_option{.name = "endpoint", .doc = "only of this queue"},
    feature_option{.name = "state", .doc = "only these: waiting, taken or given-up"},
    feature_option{
        .name = "limit", .doc = "how many, at most 1000; 50 unless given", .number = true},
    feature_option{.name = "after", .doc = "go on after this seq", .number = true}};
constexpr std::array show_options{
    feature_option{.name = "seq", .doc = "its number, from the list", .where = place::path},
    feature_option{.name = "payload", .doc = "show what it says, too", .flag = true}};
constexpr std::array retry_options{
    feature_option{.name = "seq", .doc = "its number, from the list", .where = place::path}};
constexpr std::array retry_all_options{
    feature_option{.name = "endpoint", .doc = "the queue", .where = place::body}};
constexpr std::array finish_options{
    feature_option{.name = "seq", .doc = "its number, from the list", .where = place::path},
    feature_option{.name = "response",
                   .doc = "what the Response to a Command says; null unless given",
                   .where = place::body}};

constexpr std::array queue_commands{
    feature_command{.name = "stats",
                    .summary = "how many jobs wait, are taken or were given up",
                    .method = "GET",
                    .path = "/_rf/queue",
                    .list = "queues",
                    .columns = stats_columns,
                    .example = "posthorn queue stats",
                    .in_stats = true},
    feature_command{.name = "list",
                    .summary = "list jobs, the oldest first",
                    .method = "GET",
                    .path = "/_rf/queue/jobs",
                    .options = list_options,
                    .list = "jobs",
                    .columns = list_columns,
                    .example = "posthorn queue list --state given-up"},
    feature_command{.name = "show",
                    .summary = "show a job with all that is known of it",
                    .method = "GET",
                    .path = "/_rf/queue/jobs/{seq}",
                    .options = show_options,
                    .example = "posthorn queue show 17"},
    feature_command{.name = "retry",
                    .summary = "let a job be taken at once, with all its attempts",
                    .method = "POST",
                    .path = "/_rf/queue/jobs/{seq}/retry",
                    .options = retry_options,
                    .example = "posthorn queue retry 17"},
    feature_command{.name = "retry-all",
                    .summary = "the same for all that were given up",
                    .method = "POST",
                    .path = "/_rf/queue/retry",
                    .options = retry_all_options,
                    .example = "posthorn queue retry-all --endpoint Ship"},
    feature_command{.name = "finish",
                    .summary = "end a job in place of a worker",
                    .method = "POST",
                    .path = "/_rf/queue/jobs/{seq}/finish",
                    .options = finish_options,
                    .example = "posthorn queue finish 17"},
};

/// Of the columns below: jobs, those given up, when the oldest came.
feature_finding judge_jobs(std::span<const std::int64_t> seen, wall_time now) {
    const auto jobs = seen[0];
    const auto given_up = seen[1];
    constexpr auto patience = std::chrono::hours{1};
    if (given_up > 0)
        return {.is_well = false,
                .what = fmt::format("{} of {} {} given up", given_up, counted(jobs, "job"),
                                    given_up == 1 ? "was" : "were"),
                .why = "no worker gets them any more, and those of their order key wait",
                .todo = "see 'posthorn queue list --state given-up', then retry or finish them"};
    const wall_time oldest{milliseconds(std::max<std::int64_t>(seen[2], 0))};
    if (jobs > 0 && now - oldest > patience)
        return {.is_well = false,
                .what = fmt::format("{}, the oldest since {}",
                                    counted(jobs, "job is not done", "jobs are not done"),
                                    to_iso8601(oldest)),
                .why = "nothing else does them: they wait until a worker takes them",
                .todo = "see whether the workers run: 'posthorn queue stats'"};
    return {.what =
                jobs == 0 ? "no job waits" : counted(jobs, "job") + ", none older than an hour"};
}

constexpr std::array queue_checks{feature_check{
    .name = "queues",
    .sql = "SELECT (SELECT count(*) FROM {s}.posthorn_queue),"
           " (SELECT count(*) FROM {s}.posthorn_queue WHERE given_up_at IS NOT NULL),"
           " coalesce((SELECT received_at FROM {s}.posthorn_queue ORDER BY seq LIMIT 1), 0)",
    .of_inbox = true,
    .judge = &judge_jobs}};

constexpr std::array queue_odd{odd_rows{
    .table = "posthorn_queue",
    .where = "seq < 1",
    .why = "they have a number below 1, and the numbers of jobs begin with 1: they are given to "
           "workers and not listed",
    .todo = "set posthorn_queue.seq of each to a number of its own, or delete it",
    .of_inbox = true}};

class queue final : public feature {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "queue"; }
    [[nodiscard]] table_set tables() const noexcept override { return queue_tables(); }
    [[nodiscard]] std::string_view handler_word() const noexcept override { return "queue"; }
    [[nodiscard]] std::span<const odd_rows> odd() const noexcept override { return queue_odd; }
    [[nodiscard]] std::span<const feature_key> keys() const noexcept override { return queue_keys; }
    [[nodiscard]] std::string_view summary() const noexcept override {
        return "look at the jobs of queues, and try again those that were given up";
    }
    [[nodiscard]] std::span<const feature_command> commands() const noexcept override {
        return queue_commands;
    }
    [[nodiscard]] std::span<const feature_check> checks() const noexcept override {
        return queue_checks;
    }

    result<> install(node_builder& into) const override {
        const queue_rules rules{into.settings().get<std::int64_t>("max_attempts")};
        if (rules.attempts_max < 0)
            return fail(error_code::invalid_configuration,
                        "queue.max_attempts cannot be {}; write 1 or more, or 0 for never",
                        rules.attempts_max);
        auto& waits = into.run(std::make_unique<queue_waits>());
        auto& with =
            into.make<queue_deps>(into.inbox_database(), into.env(), into.maker(), waits, rules);
        POSTHORN_TRY(add_handlers(into, with));
        for (auto& each : queue_worker_routes(with)) into.add(std::move(each));
        for (auto& each : queue_operator_routes(with)) into.add(std::move(each));
        watch(into, with);
        if (!with.queues.empty())
            into.run(std::make_unique<queue_keeper>(with.where, with.env, rules));
        return {};
    }

private:
    static result<> add_handlers(node_builder& into, queue_deps& with) {
        for (const auto& each : into.endpoints()) {
            with.queues.push_back(each.name);
            // A response is not a request: an endpoint may have a handler for each.
            handler made{.run = make_queue_handler(with.env.clock),
                         .limit = each.limit,
                         .lease = each.lease,
                         .takes_responses = false,
                         .answers_later = true,
                         .arrived = [&waits = with.waits](const message& one) {
                             waits.arrived(one.endpoint);
                         }};
            auto& handlers = into.handlers();
            POSTHORN_TRY(each.responses ? handlers.add_response(each.name, std::move(made))
                                        : handlers.add(each.name, std::move(made)));
        }
        return {};
    }

    // A store that cannot be read is told of by the node itself.
    static std::vector<queue_numbers> look(const queue_deps& with) {
        std::vector<queue_numbers> seen;
        const auto looked = with.where.read([&](store_reader& from) -> result<> {
            POSTHORN_LET(found, look_at_queues(from, with.queues, with.env.clock.wall()));
            seen = std::move(found);
            return {};
        });
        return looked ? seen : std::vector<queue_numbers>{};
    }

    static void watch(node_builder& into, const queue_deps& with) {
        const auto alarm_after = into.settings().get<milliseconds>("alarm_after");
        into.metrics([&with](prometheus_text& text) {
            write_metrics(text, look(with), with.env.clock.wall());
        });
        into.health([&with, alarm_after] {
            return worries_of(look(with), alarm_after, with.env.clock.wall());
        });
    }
};

}  // namespace

const feature& queue_feature() noexcept {
    static const queue one;
    return one;
}

}  // namespace posthorn
