#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/config/config.hpp"
#include "app/node/listeners.hpp"
#include "app/node/network_connector.hpp"
#include "app/node/node_core.hpp"
#include "base/async/io_threads.hpp"
#include "inbox/configured/refused_calls.hpp"
#include "store/sqlite/driver/memory_file.hpp"

namespace posthorn {

/// What code tells a node that no file can.
struct runtime_options {
    std::function<void(std::string_view line)> log_sink{};  // Standard error if empty.
    /// Called when the node cannot go on safely; the process is aborted when it returns.
    std::function<void(const std::string& why)> on_fail_stop{};
    network_connector::transports transports{};
    bool make_folders = false;  // Those that the databases lie in.
    bool may_call = true;       // Whether there is code that could wait for a Response.
    custom_backoff retry{};     // In place of the configuration's policy.
    std::shared_ptr<const posthorn::serializer> serializer{};
    wall_clock_function wall_clock{};
    own_findings findings{};
    /// A last look at what the configuration came to, such as a lease of another length in a test.
    std::function<void(core_options&)> adjust{};
};

/// The machine's clocks, but for the time of day where a test tells that.
class node_clock final : public clock {
public:
    explicit node_clock(wall_clock_function wall) : wall_(std::move(wall)) {}

    [[nodiscard]] wall_time wall() const override { return wall_ ? wall_() : real_.wall(); }
    [[nodiscard]] steady_time steady() const override { return real_.steady(); }

private:
    wall_clock_function wall_;
    real_clock real_;
};

/// A node on the real clock, disk and network: what `node` and `posthorn serve` are made of.
///
/// Lifetime: `open`, add handlers, `start`, `stop`, destroy; the destructor stops what runs.
/// Threads:  any; it works on threads of its own.
/// Cancel:   `stop` refuses what is new, lets work in flight end for `outbox.drain_timeout`,
/// cancels
///           asynchronous handlers, commits and joins. Twice is safe. `cut_off` ends the patience
///           of a stop under way.
class node_runtime {
public:
    static result<std::unique_ptr<node_runtime>> open(config settings, runtime_options options);
    ~node_runtime();
    node_runtime(const node_runtime&) = delete;
    node_runtime& operator=(const node_runtime&) = delete;

    [[nodiscard]] node_core& core() noexcept { return *core_; }
    [[nodiscard]] const environment& env() const noexcept { return seams_->env; }
    [[nodiscard]] logger& log() noexcept { return log_; }
    [[nodiscard]] timer& sleeper() noexcept { return timer_; }
    [[nodiscard]] executor& readers() noexcept { return readers_; }
    [[nodiscard]] boost::asio::any_io_executor network() { return network_.executor(); }
    [[nodiscard]] const config& settings() const noexcept { return settings_; }

    /// Binds, starts the node, then lets requests in.
    task<result<>> start();
    task<> stop();
    void stop_and_wait();
    void cut_off();
    /// None before it has started.
    [[nodiscard]] std::vector<std::string> urls() const {
        return listeners_ ? listeners_->urls() : std::vector<std::string>{};
    }
    /// The one of them that is for operators; empty if there is none.
    [[nodiscard]] std::string admin_url() const {
        return listeners_ ? listeners_->admin_url() : std::string{};
    }

    /// Takes over what can change while it runs: routes, secrets, certificates, admin keys. If
    /// anything about the new configuration is wrong, nothing changes.
    result<> reload(const config& fresh);

private:
    node_runtime(config settings, runtime_options options);
    result<> build();
    result<> make_memory_files();
    void warn_about_durability();
    task<> give_up_after(std::chrono::milliseconds patience);
    [[nodiscard]] result<peer_keys::rings> usable_secrets(const config& from) const;
    void warn_of_old_keys(const peer_keys::rings& rings);
    void warn_of_tight_lanes(const config& from);
    [[nodiscard]] environment environment_of();
    [[nodiscard]] node_seams seams();
    [[nodiscard]] core_options options_of_core();

    config settings_;
    runtime_options options_;
    std::vector<std::unique_ptr<sqlite::memory_file>> in_memory_;  // Go last: the stores lie there.
    node_clock clock_;
    real_timer timer_;
    system_random random_;
    tracer traces_{clock_, random_};
    logger log_;
    worker_threads writer_{"posthorn-write"};
    std::optional<worker_threads> inbox_writer_;
    std::optional<worker_threads> backups_;  // Not the readers': a copy takes long.
    worker_threads readers_{"posthorn-read", 2};
    worker_threads workers_{"posthorn-work", 4};
    // One thread, so that everything on it is in one strand without paying for a strand.
    io_threads network_{"posthorn-io"};
    peer_keys keys_;
    refused_calls refused_;
    std::unique_ptr<network_connector> connector_;
    std::optional<node_seams> seams_;
    std::unique_ptr<node_core> core_;
    std::unique_ptr<listeners> listeners_;
    bool started_ = false;
    bool stopped_ = false;
};

/// Where the nodes of this process find each other.
[[nodiscard]] inprocess_hub& process_hub();

/// The keys that differ and that a running node does not take over.
[[nodiscard]] std::vector<std::string> keys_that_need_a_restart(const config& running,
                                                                const config& fresh);

}  // namespace posthorn
