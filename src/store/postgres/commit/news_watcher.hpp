#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/async/executor.hpp"
#include "base/async/task.hpp"
#include "base/async/timer.hpp"
#include "base/log/log.hpp"
#include "base/run/node_service.hpp"
#include "base/time/clock.hpp"
#include "store/postgres/driver/connection.hpp"

namespace posthorn::postgres {

/// Hears from the other stores of a schema that there are new messages, through LISTEN. What it
/// misses while it is not connected is found by the regular sweep, and by one look when it is
/// again.
///
/// Lifetime: what it is given outlives `run()`.
/// Threads:  the executor that runs it; it connects on `blocking`.
/// Cancel:   `run()` returns.
class news_watcher final : public node_service {
public:
    struct parts {
        const clock& time;
        timer& sleeper;
        executor& blocking;
        logger& log;
    };

    /// `own` is the name of the store whose own news are none.
    news_watcher(connect_options where, std::string own, const parts& with,
                 std::function<void()> on_news);

    [[nodiscard]] std::string_view name() const noexcept override { return "news watcher"; }
    task<> run() override;

private:
    result<std::unique_ptr<connection>> open();
    task<> listen(connection& database);

    connect_options where_;
    std::string own_;
    parts with_;
    std::function<void()> on_news_;
};

}  // namespace posthorn::postgres
