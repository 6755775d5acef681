#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/async/bell.hpp"
#include "base/async/task_group.hpp"
#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "consume/consume_hand.hpp"
#include "consume/consume_settings.hpp"
#include "store/store.hpp"
#include "transport/transport.hpp"

namespace posthorn {

/// What a source has done since the start.
struct consume_counts {
    std::uint64_t processed = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t retried = 0;
    std::uint64_t put_aside = 0;
};

/// What people see of a source.
struct consume_view {
    consumer_state link{};
    consume_counts counts{};
    std::size_t in_hand = 0;
    std::optional<wall_time> apart_since{};  // Without a connection.
};

/// Brings what one queue or stream has to the inbox, and acknowledges it after the commit.
///
/// Lifetime: as a node service's.
/// Threads:  the network executor; `view` from any.
/// Cancel:   takes nothing new and lets what is at work end; the broker gets the rest back.
class consume_service final : public node_service {
public:
    struct deps {
        const environment& env;
        store& where;                        // Of what is put aside.
        std::function<receiver*()> inbox{};  // Null before the node has started.
        std::string service{};
    };

    consume_service(deps with, consume_source from, std::unique_ptr<broker_consumer> by);

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    [[nodiscard]] const consume_source& source() const noexcept { return from_; }
    task<> run() override;
    void stop() override;

    [[nodiscard]] consume_view view() const;

private:
    struct holding {
        received_message got;
        message what;  // Nil where it can never be one.
        std::string poison{};
        std::uint32_t tries = 0;
    };
    using held = std::map<std::uint64_t, std::shared_ptr<holding>>;

    void take_in();
    void drop_what_was_lost();
    void launch();
    task<> work(std::vector<std::shared_ptr<holding>> batch);
    task<> settle(std::shared_ptr<holding> one, consume_verdict verdict, std::string why);
    task<bool> put_one_aside(const holding& one, std::string why);
    void extend();
    [[nodiscard]] std::chrono::nanoseconds until_next() const;
    void note_link();

    deps with_;
    consume_source from_;
    std::string name_;
    std::unique_ptr<broker_consumer> by_;
    consume_hand hand_;
    held held_;
    std::size_t at_work_ = 0;  // Batches.
    bool stopping_ = false;
    steady_time extend_at_{};
    bell changed_;
    std::atomic<std::uint64_t> processed_ = 0;
    std::atomic<std::uint64_t> duplicates_ = 0;
    std::atomic<std::uint64_t> retried_ = 0;
    std::atomic<std::uint64_t> put_aside_ = 0;
    std::atomic<std::size_t> in_hand_ = 0;
    mutable std::mutex mutex_;
    consumer_state link_{};                   // As it was last looked at.
    std::optional<wall_time> apart_since_{};  // Without a link.
    task_group batches_;
};

}  // namespace posthorn
