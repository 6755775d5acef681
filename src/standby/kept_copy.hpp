#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "standby/link_format.hpp"
#include "standby/pair_state.hpp"
#include "standby/segment.hpp"
#include "store/sqlite/driver/file_locks.hpp"

namespace posthorn::standby {

/// What a standby keeps of its primary: a copy of the database, the log behind it in a file for
/// each generation, and what it is.
///
/// Frames are on the disk when `append` returns. A finished generation goes into the database
/// later, by `fold`, and its file is used again: to overwrite one costs a third of extending it.
///
/// Lifetime: `open`; it alone has the files until it is destroyed, or promoted. Programs that would
///           open the database with SQLite find it locked: what they wrote would spoil it.
/// Threads:  one, and another for `fold`.
class kept_copy {
public:
    /// `error_code::store_busy` if another process has it.
    static result<std::unique_ptr<kept_copy>> open(const std::filesystem::path& database);
    ~kept_copy();
    kept_copy(const kept_copy&) = delete;
    kept_copy& operator=(const kept_copy&) = delete;

    [[nodiscard]] pair_state state() const;
    [[nodiscard]] standby_place place() const;

    /// From here on it is a part of a copy, until `end_copy`. What was there is of use only where
    /// pages are the same.
    result<> begin_copy(const pair_state& of, const log_header& first);
    /// Of the database itself, which no generation was folded into since `begin_copy`.
    result<std::size_t> read_pages(std::span<std::byte> into, std::uint64_t at);
    result<> write_pages(bytes_view pages, std::uint64_t at);
    /// The copy is whole, and its file was so long.
    result<> end_copy(std::uint64_t bytes);

    /// The primary follows this standby with a newer epoch, or with other rules.
    result<> note(std::uint64_t epoch, bool may_lack);
    /// The generation before has ended where it ends here.
    result<> next_generation(const log_header& header);
    result<> append(std::uint64_t offset, bytes_view frames);
    /// Forgets a part of a transaction: the primary begins anew at `place`.
    void drop_part();

    /// Whether there are finished generations to fold.
    [[nodiscard]] bool has_finished() const;
    result<> fold();
    /// From then on nothing is taken from older epochs, whatever comes in between; the database is
    /// whole and has no log when `finish` is called, and may be opened as one when this returns.
    /// May be called again after a failure.
    result<> promote(std::uint64_t epoch, const std::function<result<>()>& finish = {});

    // How the role changes hands, as `switch_rules.hpp` has it.

    /// The primary gives us its role. What was ours is promoted from then on, durably.
    /// `error_code::invalid_argument` with the reason if we are not where its log ends.
    result<> take_role(const link_hand_over& asked);
    /// Of one that hands over: it was taken, and it follows from now on.
    result<> follow_on(std::uint64_t epoch);
    /// Of one that hands over: it was not taken.
    result<> take_back();

private:
    explicit kept_copy(std::filesystem::path database) : database_(std::move(database)) {}
    result<> load();
    result<> keep_others_off();
    result<> load_segments();
    [[nodiscard]] log_place end_of_segments() const;
    result<> change(const std::function<void(pair_state&)>& how);
    result<> fold_oldest();
    result<> free_segment(std::uint64_t number);
    result<> drop_segments();
    [[nodiscard]] std::filesystem::path path_of(std::uint64_t number) const;
    result<plain_file> open_database() const;

    std::filesystem::path database_;
    plain_file lock_;
    std::optional<sqlite::sole_use> alone_;  // Not while it is not known who leads.
    std::mutex folding_;  // Held while the database is written by a fold, or must not be.
    std::mutex changing_;
    mutable std::mutex mutex_;  // Of what follows; not held while a file is read or written long.
    pair_state state_;
    std::map<std::uint64_t, std::shared_ptr<segment>> segments_;  // The newest grows.
    std::vector<std::filesystem::path> free_;
    std::uint64_t next_number_ = 0;
    plain_file base_;  // While it is copied.
};

}  // namespace posthorn::standby
