#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/async/bell.hpp"
#include "base/run/node_service.hpp"

namespace posthorn {

/// Workers that wait for a job to come.
///
/// Each job that comes wakes one of those that wait at its queue, in turn. A wake is a hint: a
/// waiting request also looks now and then by itself, since other processes fill the queue too.
///
/// Lifetime: outlives its places.
/// Threads:  any.
/// Cancel:   `stop` ends all waits; later ones do not wait at all.
class queue_waits final : public node_service {
public:
    queue_waits() = default;

    [[nodiscard]] std::string_view name() const noexcept override { return "queue waits"; }
    task<> run() override;
    void stop() override;

    void arrived(const std::string& endpoint);
    [[nodiscard]] bool is_closed() const;

    /// A worker that waits at a queue.
    class place {
    public:
        place(queue_waits& in, std::string endpoint);
        ~place();
        place(const place&) = delete;
        place& operator=(const place&) = delete;

        /// Until a job comes, the time is over, or the node stops.
        task<> wait(timer& time, std::chrono::nanoseconds limit);

    private:
        queue_waits& in_;
        std::string endpoint_;
        std::shared_ptr<bell> bell_ = std::make_shared<bell>();
    };

private:
    mutable std::mutex mutex_;
    bool closed_ = false;
    std::map<std::string, std::list<std::shared_ptr<bell>>, std::less<>> waiting_;
    bell stopped_;
};

}  // namespace posthorn
