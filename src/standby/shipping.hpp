#pragma once

#include <functional>
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
    shipping(const standby_settings& how, const pair_state& as, pair_access access,
             const environment& env, std::string service);

    [[nodiscard]] log_shipper& log() noexcept { return shipper_; }
    [[nodiscard]] ship_report report() const { return shipper_.report(); }
    [[nodiscard]] const standby_settings& settings() const noexcept { return settings_; }
    [[nodiscard]] const pair_state& as() const noexcept { return as_; }
    /// What is rung when the role is to change hands. Empty where no process waits for it.
    void switch_with(std::function<void()> begin) { begin_switch_ = std::move(begin); }
    /// Begins to give the role to the standby; `error_code::state_changed`, in words, if it cannot.
    result<> begin_switch();
    /// Why the last switch did not come about; empty if it did, or there was none.
    void note_switch(std::string why) { switch_trouble_ = std::move(why); }
    [[nodiscard]] const std::string& switch_trouble() const noexcept { return switch_trouble_; }

private:
    const standby_settings settings_;
    const pair_state as_;
    // Both of before the node starts.
    std::function<void()> begin_switch_;
    std::string switch_trouble_;
    worker_threads thread_{"posthorn-ship"};
    shipper shipper_;
};

/// What a person should know and do about a standby. Pure.
[[nodiscard]] std::vector<health_worry> worries_of(const ship_report& seen,
                                                   const standby_settings& how);
/// Why the standby cannot be given the role now; empty if it can. Pure.
[[nodiscard]] std::string refuse_switch(const ship_report& seen, const standby_settings& how);
/// What a promotion of the standby, at this moment, would lose of what was answered. Pure.
[[nodiscard]] std::string loss_of(const ship_report& seen, const standby_settings& how);

/// How its history began, for `posthorn standby rejoin` on the machine of the primary before it;
/// empty if there was none.
[[nodiscard]] std::string began_of(const pair_state& kept);

/// As `GET /_rf/standby` answers it.
[[nodiscard]] boost::json::object to_json(const shipping& of);
void write_metrics(prometheus_text& text, const ship_report& seen, std::uint64_t epoch);

}  // namespace posthorn::standby
