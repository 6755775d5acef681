#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/time/clock.hpp"
#include "standby/door/pair_access.hpp"
#include "standby/link_channel.hpp"
#include "store/log_shipper.hpp"

namespace posthorn::standby {

/// When a commit is answered.
enum class ship_mode : std::uint8_t {
    sync,  // Once it is on both disks.
    async  // Once it is on this one; the standby is behind by what is on the way.
};
/// What becomes of commits without a standby, in mode sync.
enum class when_lost : std::uint8_t {
    wait,  // They are refused.
    alone  // They are answered, and a promotion may lack them.
};

struct shipper_options {
    link_place to{};
    pair_access access{};
    stream_id stream{};
    std::uint64_t epoch = 1;
    /// Where the log of the primary before this one ended, and its own first log, if that is known.
    std::optional<log_place> began{};
    std::optional<log_salts> first_log{};
    std::string service{};
    ship_mode mode = ship_mode::sync;
    when_lost lost = when_lost::wait;
    std::chrono::milliseconds patience = std::chrono::seconds{5};
    std::chrono::milliseconds beat = std::chrono::milliseconds{500};  // How often it is asked.
    /// How soon it is tried again at first: it may just be changing its role.
    std::chrono::milliseconds first_beat = std::chrono::milliseconds{20};
    std::uint64_t log_kept = std::uint64_t{1} << 30U;  // For a standby that is away.
};

/// How it stands between primary and standby.
struct ship_report {
    enum class state : std::uint8_t { away, copying, following };

    state how = state::away;
    bool has_tried = false;      // To reach it, once.
    bool is_refused = false;     // It is there, and does not take this primary: `trouble` says why.
    bool alone = false;          // Commits are answered that the standby lacks.
    std::uint64_t position = 0;  // Where the log ends here.
    std::uint64_t behind = 0;    // Bytes of the log that it has not answered for,
    std::chrono::milliseconds behind_for{};  // and for how long it has not.
    std::string trouble{};                   // Why it is away.
    bool can_lead = false;                   // It would serve after a switch.
    std::uint64_t copies = 0;                // How often it was compared page by page.
};

[[nodiscard]] std::string_view to_string(ship_report::state how);

/// Ships a store's log to its standby, over a connection that a thread of its own makes anew
/// whenever it is lost.
///
/// Lifetime: outlives its store; what it is given outlives it. The executor has a thread for it
///           alone.
/// Threads:  the store's, and any for `report`.
/// Cancel:   `end` breaks the connection off.
class shipper final : public log_shipper {
public:
    struct parts {
        executor& thread;
        random_source& random;
        logger& log;
        const clock& time;
    };
    shipper(shipper_options options, const parts& with);
    ~shipper() override;

    void begin(log_source& files) override;
    /// What is on the way to a standby that is there has its time to arrive.
    void end() noexcept override;
    void let_go() noexcept override;
    result<> ready() override;
    void wrote(std::uint64_t end) noexcept override;
    result<> wait() noexcept override;
    bool may_checkpoint(std::uint64_t end) noexcept override;

    [[nodiscard]] ship_report report() const;
    [[nodiscard]] const shipper_options& options() const noexcept { return options_; }

private:
    struct order {
        std::uint64_t number = 0;  // Later ones include earlier ones.
        std::uint64_t end = 0;     // Of the log.
    };
    /// How far the standby has the present generation.
    struct progress {
        log_header header;
        log_walk walk;
    };

    void run();
    [[nodiscard]] std::chrono::milliseconds pause();
    result<> follow();
    result<> meet(const standby_place& standby);
    result<> go_on(const order& asked);
    result<> ship(const order& asked);
    result<> ship_frames(std::uint64_t end);
    result<> copy_some();
    result<> send_wanted(std::uint64_t at, bytes_view pages, std::size_t page_size);
    result<> enter(const log_header& fresh);
    result<log_header> present_header();
    result<std::optional<log_sum>> sum_at(const log_header& header, std::uint64_t offset);
    std::optional<order> next_order();
    void note(ship_report::state how);
    void note_away(const result<>& ended);
    void change(ship_report::state how);
    bool wait_until_done(std::unique_lock<std::mutex>& lock, std::uint64_t number);

    const shipper_options options_;
    const parts with_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    log_source* files_ = nullptr;
    bool stopping_ = false;
    bool running_ = false;
    order asked_;
    std::uint64_t done_ = 0;    // All up to this order is on the standby's disk.
    std::uint64_t unsure_ = 0;  // A generation that begins after this order may hide frames.
    bool is_unsure_ = false;
    bool has_tried_ = false;  // To reach the standby, once.
    bool given_up_ = false;   // It is refused at once what was waited for in vain.
    bool alone_ = false;
    bool is_refused_ = false;
    steady_time asked_at_{};  // Since when `asked_` has not been done.
    ship_report::state state_ = ship_report::state::away;
    std::string trouble_;
    bool can_lead_ = false;
    std::uint64_t copies_ = 0;
    std::uint64_t shipped_ = 0;  // Offset in the present generation.
    link_channel* link_now_ = nullptr;

    // Of the thread.
    run_id run_{};
    int tries_ = 0;  // To reach a standby that never was there.
    std::optional<link_channel> link_;
    std::optional<progress> at_;
    std::optional<log_place> shipped_at_;  // The end of the last order that was done.
    std::optional<std::uint64_t> copied_;  // Of the file, while it is copied.
};

}  // namespace posthorn::standby
