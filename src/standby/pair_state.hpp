#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.hpp"
#include "base/result.hpp"
#include "standby/place.hpp"
#include "standby/plain_file.hpp"

namespace posthorn::standby {

/// What one of a pair keeps of itself beside its database, in `orders.db-standby`.
struct pair_state {
    enum class role : std::uint8_t { primary, standby };

    role as = role::standby;
    stream_id stream{};
    std::uint64_t epoch = 0;
    standby_phase phase = standby_phase::empty;  // Of a standby.
    std::uint64_t oldest_segment = 0;            // Those before it are in its file.
    bool may_lack = false;  // Its primary may answer before the standby has what it answers.
    /// Where two histories part: up to there, one that gives its role away, or that rejoins, has
    /// what the other has.
    std::optional<log_place> parting{};
    /// Of one that was promoted: what of the log of the primary before it has,
    std::optional<log_place> began{};
    /// and the log that is its own first, which follows from just that.
    std::optional<log_salts> first_log{};

    bool operator==(const pair_state&) const = default;
};

[[nodiscard]] std::filesystem::path state_file_of(const std::filesystem::path& database);

[[nodiscard]] std::string to_text(const pair_state& state);
/// Empty if it is not the whole text of one.
[[nodiscard]] std::optional<pair_state> parse_pair_state(std::string_view text);

/// Empty where there is none; `error_code::store_corrupt` if it is damaged.
result<std::optional<pair_state>> load_state(const std::filesystem::path& database);
/// It survives a power cut from then on.
result<> save_state(const std::filesystem::path& database, const pair_state& state);

/// Until it is destroyed no other process follows with this database, or changes what is kept of it.
/// `error_code::store_busy` while another does.
result<plain_file> lock_state(const std::filesystem::path& database);

/// What a database is to be shipped as: what it is already or, if it never was one of a pair, the
/// beginning of a stream. `error_code::invalid_argument` if it is a copy that was not promoted.
result<pair_state> begin_as_primary(const std::filesystem::path& database, random_source& random);
/// To be asked before a database is opened as one: a copy changes by its primary's log alone.
result<> require_no_copy(const std::filesystem::path& database);

/// Thirty-two hexadecimal digits.
[[nodiscard]] std::string to_hex(const stream_id& id);
/// A place in a log as one word, for people to copy: `SALTS-OFFSET-SUM`.
[[nodiscard]] std::string to_text(const log_place& at);
[[nodiscard]] std::optional<log_place> parse_log_place(std::string_view text);

}  // namespace posthorn::standby
