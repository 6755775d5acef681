#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/async/task.hpp"
#include "base/run/environment.hpp"
#include "security/secret_box.hpp"
#include "store/store.hpp"
#include "webhook/subscription_table.hpp"
#include "webhook/webhook_request.hpp"

namespace posthorn {

/// Subscriptions as they were at one time. Pure to ask.
class subscription_set {
public:
    using target = std::shared_ptr<const webhook_target>;

    subscription_set() = default;
    subscription_set(std::int64_t version, std::vector<target> all, std::int64_t given = 0);

    [[nodiscard]] std::int64_t version() const noexcept { return version_; }
    /// How often the program had named its own.
    [[nodiscard]] std::int64_t given() const noexcept { return given_; }
    [[nodiscard]] const std::vector<target>& all() const noexcept { return all_; }
    /// Null if there is none.
    [[nodiscard]] target find(const uuid& id) const;
    /// Who is told of an event: those of its tenant and of all, that are not disabled.
    [[nodiscard]] std::vector<target> of(const webhook_event& event, std::string_view tenant) const;
    /// Whether the configuration has entries by tenant, and none for this one or by default.
    [[nodiscard]] bool leaves_out(std::string_view tenant) const;

private:
    std::int64_t version_ = 0;
    std::int64_t given_ = 0;
    std::vector<target> all_;
    std::map<uuid, target> by_id_;
    std::map<std::string, std::vector<target>, std::less<>> by_tenant_;   // Empty: of all.
    std::map<std::string, std::vector<target>, std::less<>> configured_;  // By tenant, lower case.
    std::vector<target> defaults_;  // Of events whose tenant has none of these.
};

/// Opens the secrets of a subscription and reads what it asks for; what cannot be read is its
/// `trouble`. Pure but for the time.
[[nodiscard]] webhook_target make_target(subscription of, const secret_box* box, wall_time now);

/// Adds what signs, as it is told: the present one first. Fails with `secret_unavailable`.
[[nodiscard]] result<> add_key(webhook_target& to, std::string_view shown);

/// Where the sealed secret of a subscription lies.
[[nodiscard]] std::string place_of(const uuid& subscription, std::string_view tenant);

/// The subscriptions of a database in memory, read anew when they have changed, also by plain
/// SQL.
///
/// Lifetime: what it is given outlives it.
/// Threads:  `refresh` and `recent` on the network executor; `now` on any.
class subscription_index {
public:
    subscription_index(store& where, const environment& env, const secret_box* box,
                       std::vector<subscription> configured)
        : where_(where),
          env_(env),
          box_(box),
          configured_(std::move(configured)),
          known_since_(env.clock.wall()) {}

    /// Asks the database whether something changed, and reads it if so.
    task<result<std::shared_ptr<const subscription_set>>> refresh();
    /// The same, unless it was asked within the last second and nothing was changed since by others.
    task<result<std::shared_ptr<const subscription_set>>> recent();
    [[nodiscard]] std::shared_ptr<const subscription_set> now() const;
    /// Others have committed, and may have changed a subscription. On any thread.
    void doubt() noexcept { ++doubts_; }
    /// Those that the program names, in place of those before. On any thread.
    void give(std::vector<subscription> all);

private:
    store& where_;
    const environment& env_;
    const secret_box* box_;
    std::vector<subscription> configured_;
    wall_time known_since_;
    std::optional<steady_time> asked_at_;
    std::atomic<std::uint64_t> doubts_ = 0;
    /// By a look that began after them, and has ended.
    std::atomic<std::uint64_t> doubts_settled_ = 0;
    struct of_program {
        std::int64_t number = 0;  // How often they were named.
        std::vector<subscription> all{};
    };

    static constexpr std::int64_t unknown_version = -1;
    std::uint64_t looks_ = 0;
    mutable std::mutex mutex_;
    of_program given_;
    std::uint64_t present_look_ = 0;  // The one that found what is present.
    std::shared_ptr<const subscription_set> present_ = std::make_shared<subscription_set>();
};

}  // namespace posthorn
