#pragma once

#include <vector>

#include <boost/json/object.hpp>

#include "base/run/environment.hpp"
#include "feature/node_builder.hpp"
#include "feature/prometheus_text.hpp"
#include "standby/archive/archive_settings.hpp"

namespace posthorn::standby {

/// A node's archive: what keeps its log, with the thread that it does so on.
///
/// Lifetime: outlives the store.
/// Threads:  any, for what it tells.
class archiving {
public:
    archiving(const archive_settings& how, const store_plan& plan, std::uint64_t epoch,
              const environment& env, std::uint64_t log_kept);

    [[nodiscard]] log_shipper& log() noexcept { return archiver_; }
    [[nodiscard]] archive_report report() const { return archiver_.report(); }
    [[nodiscard]] const archive_settings& settings() const noexcept { return settings_; }
    [[nodiscard]] wall_time now() const { return time_.wall(); }

private:
    const archive_settings settings_;
    const clock& time_;
    worker_threads thread_{"posthorn-arch"};
    archiver archiver_;
};

/// What a person should know and do about an archive. Pure.
[[nodiscard]] std::vector<health_worry> worries_of(const archive_report& seen,
                                                   const archive_settings& how, wall_time now);
/// As `GET /_rf/standby/archive` answers it.
[[nodiscard]] boost::json::object to_json(const archive_report& seen, const archive_settings& how);
void write_metrics(prometheus_text& text, const archive_report& seen);

}  // namespace posthorn::standby
