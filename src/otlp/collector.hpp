#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/async/task_group.hpp"
#include "base/run/environment.hpp"
#include "otlp/otlp_settings.hpp"
#include "transport/http/http_client.hpp"

namespace posthorn {

/// What was told so far, and what was not.
///
/// Threads: any.
struct export_counts {
    std::atomic<std::uint64_t> spans = 0;           // That a collector took.
    std::atomic<std::uint64_t> spans_rejected = 0;  // By a collector.
    std::atomic<std::uint64_t> spans_lost = 0;      // Given up after they were taken from the ring.
    std::atomic<std::uint64_t> metrics = 0;         // Requests that a collector took.
    std::atomic<std::uint64_t> failures = 0;        // Requests that failed, each time.
};

/// The way to the collector. It is never waited for but by the exporters.
///
/// Lifetime: `close` has returned before it is destroyed, if anything was sent.
/// Threads:  the network executor; `trouble` from any.
/// Cancel:   a cancelled `post` gives `error_code::cancelled`.
class collector {
public:
    /// `error_code::certificate_unusable` if the authorities cannot be read.
    static result<std::unique_ptr<collector>> make(const environment& env,
                                                   const otlp_options& options);

    /// Twice, if the first comes back at once without an answer.
    task<result<http_response>> post(std::string url, std::string body);
    task<> close();

    /// Told once for each time of trouble.
    void note_failure(const std::string& why);
    void note_success();
    /// Why the last request failed; empty if it did not.
    [[nodiscard]] std::string trouble() const;
    [[nodiscard]] export_counts& counts() noexcept { return counts_; }

private:
    collector(const environment& env, const otlp_options& options,
              std::shared_ptr<tls_context> tls);

    const environment& env_;
    http_headers headers_;
    bool gzip_;
    std::chrono::milliseconds timeout_;
    task_group connections_;
    http_client client_;
    export_counts counts_;
    mutable std::mutex mutex_;
    std::string trouble_;
};

}  // namespace posthorn
