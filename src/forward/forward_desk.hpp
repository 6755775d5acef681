#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>

#include <posthorn/detail/unique_function.hpp>
#include <posthorn/forward.hpp>
#include <posthorn/transport.hpp>

#include "base/async/task.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "base/uuid_generator.hpp"
#include "forward/limits/buffer_rules.hpp"
#include "outbox/rules/replay.hpp"
#include "store/store.hpp"

namespace posthorn {

/// The site of a node that has no name for it.
inline constexpr std::string_view unknown_site = "$unknown-site";

/// What holds where neither the work nor its category says otherwise.
struct forward_defaults {
    std::int32_t max_retries = 50;
    std::chrono::milliseconds retry_interval = std::chrono::seconds{30};
    std::string site{};
    std::string centre{};  // The service that is told of tracked work; empty if there is none.
    std::chrono::milliseconds wait = std::chrono::seconds{30};  // For a first attempt.
    replay_options replay{};
    buffer_rules caps{};  // Those of categories come with their handlers.
};

using forward_function = detail::unique_function<bool(const forward_message&)>;

using forward_observer = detail::unique_function<void(transaction&, const forward_attempt&)>;
using forward_listener = detail::unique_function<void(const forward_activity&)>;

/// What came of an attempt that does not block.
struct asked_outcome {
    delivery what;
    std::optional<std::int64_t> http_status{};
};
using forward_asker = std::function<task<asked_outcome>(forward_message)>;

/// A category that this node delivers for.
struct forward_handler {
    forward_function run{};  // On a thread it may block; or
    forward_asker ask{};
    forward_category how{};
};

/// What came of the first attempt of work whose caller waits for it.
///
/// Threads: any.
class first_attempt {
public:
    void tell(forwarded what);
    /// Empty past the limit.
    [[nodiscard]] std::optional<forwarded> wait(std::chrono::milliseconds limit);

private:
    std::mutex mutex_;
    std::condition_variable told_;
    std::optional<forwarded> what_;
};

/// The handlers of a node's categories, and who waits for a first attempt.
///
/// Lifetime: as long as the node.
/// Threads:  any; `add` and `prepare` before the node starts.
class forward_desk {
public:
    struct deps {
        store& where;
        class clock& clock;
        random_source& random;
        logger& log;
    };

    forward_desk(deps with, forward_defaults defaults);

    result<> add(std::string category, forward_handler handler);
    /// Writes the categories down, so that any program can insert work for them.
    result<> prepare();
    /// How much may be held, with the caps of all categories.
    [[nodiscard]] buffer_rules rules() const;
    /// Null if there is none.
    [[nodiscard]] const forward_handler* find(std::string_view category) const;
    [[nodiscard]] const forward_defaults& defaults() const noexcept { return defaults_; }

    void observe(forward_observer by) { observer_ = std::move(by); }
    void tell_to(forward_listener told) { listener_ = std::move(told); }
    [[nodiscard]] const forward_observer& observer() const noexcept { return observer_; }
    /// Writes it into the log as well: what a person may want to know as information, the course of
    /// each operation for debugging. What the application's listener throws is dropped: it is told,
    /// and not asked.
    void tell(const forward_activity& what) const noexcept;

    [[nodiscard]] store& where() const noexcept { return with_.where; }
    [[nodiscard]] uuid new_id() { return ids_.next(); }
    /// To be said before the work commits, by a caller that waits for it.
    [[nodiscard]] std::shared_ptr<first_attempt> expect(const uuid& id);
    /// False if `take` was faster, or no caller waited.
    bool forget(const uuid& id);
    /// Null if no caller waits; given once.
    [[nodiscard]] std::shared_ptr<first_attempt> take(const uuid& id);

    /// Whether it is worth waiting for a target: there is a handler, it answered the last time, and
    /// its lane is not shut.
    [[nodiscard]] bool answers(std::string_view category, std::string_view target) const;
    void note(const std::string& destination, bool answers);
    /// All whose lanes are shut, by a person or by themselves.
    void note_shut(std::set<std::string, std::less<>> destinations);

private:
    /// A row of forward_categories, but for its number.
    struct written {
        std::string name;
        std::int64_t tracked = 1;
        std::int64_t max_retries = 0;
        std::int64_t interval_ms = 0;

        bool operator==(const written&) const = default;
    };

    [[nodiscard]] written to_write(const std::string& name, const forward_handler& handler) const;
    result<> write(store_transaction& tx, std::span<const written> some) const;
    /// The caps by which new work is refused, where any program's inserts are held to them.
    result<> prepare_caps() const;
    [[nodiscard]] std::map<std::string, buffer_cap> caps_to_write() const;

    deps with_;
    forward_defaults defaults_;
    uuid_generator ids_;
    std::map<std::string, forward_handler, std::less<>> handlers_;
    forward_observer observer_;
    forward_listener listener_;
    mutable std::mutex mutex_;
    std::map<uuid, std::shared_ptr<first_attempt>> awaited_;
    std::set<std::string, std::less<>> out_;
    std::set<std::string, std::less<>> shut_;
};

}  // namespace posthorn
