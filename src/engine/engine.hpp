#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <posthorn/workflow/hosting.hpp>

#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "engine/steps/end_count.hpp"
#include "engine/steps/engine_report.hpp"
#include "engine/steps/flow_loop.hpp"
#include "engine/steps/frame_cache.hpp"
#include "engine/steps/loading.hpp"
#include "engine/steps/mailroom.hpp"
#include "engine/steps/matchmaker.hpp"
#include "engine/steps/outside_work.hpp"
#include "engine/steps/step_writer.hpp"
#include "engine/steps/workflow_intake.hpp"
#include "feature/node_builder.hpp"

namespace posthorn {

struct engine_options {
    std::size_t cache_bytes = std::size_t{256} << 20;
    std::chrono::milliseconds unclaimed_kept = std::chrono::days{7};
    std::int64_t verify_every = 100;  // Steps; none if zero.
};

struct engine_counters {
    std::atomic<std::uint64_t> steps = 0;
    std::atomic<std::uint64_t> rebuilt = 0;  // Frames, from their history.
    std::atomic<std::uint64_t> refused = 0;  // Steps that were not committed.
    std::atomic<std::uint64_t> ended = 0;
    std::atomic<std::uint64_t> runs = 0;  // That were followed by another one.
    std::atomic<std::uint64_t> quarantined = 0;
    std::atomic<std::uint64_t> ignored = 0;   // Events that nothing waited for.
    std::atomic<std::uint64_t> verified = 0;  // Histories that were repeated to compare them.
    std::atomic<std::uint64_t> differed = 0;  // Those that came out otherwise.
    std::atomic<std::uint64_t> unfit = 0;     // Signals that lack what they are waited for by.
    std::atomic<std::int64_t> frames = 0;     // In memory.
    std::atomic<std::int64_t> frame_bytes = 0;
};

/// Runs the workflows of a node.
///
/// What comes for a workflow is a row of its mailbox. The code runs first, in memory, on the flow
/// thread; then one unit writes the step, and the key (instance, run, step) decides whether it
/// counts. Whatever is not committed is dropped and built again from the history: memory is never
/// believed over the tables.
///
/// Lifetime: `add` before the node starts, `run()` once; destroyed after the node's services ended.
/// Threads:  `add` and `prepare` before the start; `wake` from any; the rest of what it keeps is the
///           flow thread's alone.
/// Cancel:   `run()` returns; units under way commit, and the next start goes on from there.
class engine final : public node_service, public commit_listener {
public:
    struct deps {
        const environment& env;
        store& where;
        class handlers& handlers;
        const message_maker& maker;
        bool has_one_database = true;
    };

    engine(deps with, engine_options options);
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    /// `error_code::invalid_argument` if this version of that name was added, or if it is too late.
    result<> add(const detail::workflow_entry& code, const detail::start_rule& rule);
    /// Before the node starts: runs the code there, and not on a thread of its own, as `flow_loop`
    /// says.
    void use(executor& place) { loop_.use(place); }
    /// Adds the handlers of what workflows wait for. `error_code::invalid_configuration` if this
    /// node cannot run any.
    result<> prepare();

    [[nodiscard]] std::string_view name() const noexcept override { return "workflow engine"; }
    task<> run() override;
    void stop() override { loop_.stop(); }
    /// There may be something new.
    void wake();

    void committed(std::span<const outbox_row> /*enqueued*/) override {}
    void announced() override { wake(); }
    void foreign_commit() override { wake(); }

    /// Is told of calls that were given up.
    [[nodiscard]] workflow_intake& intake() noexcept { return intake_; }
    [[nodiscard]] bool is_hosting() const noexcept { return !codes_.empty(); }
    /// After `prepare`, from any thread. Null if the program has no such version.
    [[nodiscard]] const detail::workflow_entry* find_code(std::string_view workflow,
                                                          std::int64_t version) const;
    [[nodiscard]] const engine_counters& counters() const noexcept { return counts_; }
    [[nodiscard]] std::vector<health_worry> worries() const {
        return report_.worries(is_hosting());
    }

    [[nodiscard]] const engine_report& report() const noexcept { return report_; }
    /// Open workflows, as of the last look over them.
    [[nodiscard]] std::vector<open_workflows> open() const { return report_.open(); }

    [[nodiscard]] const clock& time() const noexcept { return with_.env.clock; }
    /// How many instances have ended or were quarantined.
    [[nodiscard]] std::uint64_t ends() const { return ends_.value(); }
    /// Blocks until there are more than `seen`, for as long as that at most.
    void await_end(std::uint64_t seen, std::chrono::milliseconds at_most) const {
        ends_.await(seen, at_most);
    }

private:
    /// What is known of an instance that something came for.
    struct activity {
        static constexpr std::int64_t several = -1;

        bool is_queued = false;
        bool is_busy = false;     // A unit of it is under way.
        bool is_doubted = false;  // Its frame was dropped, and may be built again once.
        std::int64_t taking = 0;  // The mail that the unit under way deals with.
        std::int64_t came = 0;    // The mail that came meanwhile, or `several`.
        std::uint32_t failures = 0;
    };
    /// A unit of an instance under way.
    struct flight {
        std::unique_ptr<frame> one{};
        pending_step step{};
        bool writes_step = false;
        std::vector<std::uint32_t> new_works{};
    };
    using loaded = loaded_instance;
    using flight_ptr = std::shared_ptr<flight>;
    using unit_work = std::move_only_function<result<>(store_transaction&)>;

    [[nodiscard]] const detail::workflow_entry* code_for(const instance_row& of) const;

    [[nodiscard]] bool verify(const frame& one, flow_status as);
    void turn();
    void make_ready(std::int64_t instance);
    void note_mail(std::int64_t instance, std::int64_t seq);
    void look_over();
    /// As soon as that does not take most of the time, which it would with a million open.
    void look_over_soon();
    [[nodiscard]] bool is_look_due();

    void activate_some();
    void activate(loaded one);
    [[nodiscard]] bool build_frame(loaded& one);
    void feed(loaded one);
    void take_step(std::unique_ptr<frame> one, mail cause, detail::flow_step did);
    void submit_step(const flight_ptr& flying);
    void submit(const flight_ptr& flying, unit_work work);
    void settled(const flight_ptr& flying, const result<>& outcome);
    void hold(std::int64_t instance, const instance_row& of, std::string reason);
    void go_on(std::unique_ptr<frame> one, std::vector<mail> results);
    void end_at_once(loaded one);
    void tried_in_vain(const instance_row& of, const error& why);

    deps with_;
    engine_options options_;
    std::map<std::pair<std::string, std::int64_t>, const detail::workflow_entry*, std::less<>>
        codes_;
    std::vector<starting_rule> starts_;
    workflow_intake intake_;
    engine_report report_;
    engine_counters counts_;

    // The flow thread's alone.
    mailroom mailroom_;
    outside_work works_;
    frame_cache frames_;
    std::unordered_map<std::int64_t, activity> activities_;
    std::deque<std::int64_t> ready_;
    std::optional<steady_time> looked_over_at_;
    std::chrono::nanoseconds look_took_{};
    std::int64_t steps_unverified_ = 0;
    bool wants_look_ = false;
    bool is_look_planned_ = false;

    end_count ends_;

    flow_loop loop_;  // Last: what it runs uses the rest.
};

}  // namespace posthorn
