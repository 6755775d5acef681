#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "base/async/executor.hpp"
#include "base/run/environment.hpp"
#include "feature/node_builder.hpp"
#include "feature/prometheus_text.hpp"
#include "standby/pair_state.hpp"
#include "standby/standby_settings.hpp"

namespace posthorn::standby {

/// A node's way to its standby: what ships its log, with the thread that it ships on.
///
/// Lifetime: outlives the store.
/// Threads:  any, for what it tells.
class shipping {
public:
    shipping(const standby_settings& how, const pair_state& as, secret pair_key,
             const environment& env, std::string service);

    [[nodiscard]] log_shipper& log() noexcept { return shipper_; }
    [[nodiscard]] ship_report report() const { return shipper_.report(); }
    [[nodiscard]] const standby_settings& settings() const noexcept { return settings_; }
    [[nodiscard]] const pair_state& as() const noexcept { return as_; }

private:
    const standby_settings settings_;
    const pair_state as_;
    worker_threads thread_{"posthorn-ship"};
    shipper shipper_;
};

/// What a person should know and do about a standby. Pure.
[[nodiscard]] std::vector<health_worry> worries_of(const ship_report& seen,
                                                   const standby_settings& how);
/// What a promotion of the standby, at this moment, would lose of what was answered. Pure.
[[nodiscard]] std::string loss_of(const ship_report& seen, const standby_settings& how);

/// As `GET /_rf/standby` answers it.
[[nodiscard]] boost::json::object to_json(const shipping& of);
void write_metrics(prometheus_text& text, const ship_report& seen, std::uint64_t epoch);

}  // namespace posthorn::standby
