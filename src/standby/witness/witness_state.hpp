#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.hpp"
#include "standby/plain_file.hpp"
#include "standby/witness/primary_watch.hpp"
#include "standby/witness/witness_register.hpp"

namespace posthorn::standby {

[[nodiscard]] std::string to_text(const witness_state& state);
/// Empty if it is not the whole text of one.
[[nodiscard]] std::optional<witness_state> parse_witness_state(std::string_view text);

/// The file that a witness keeps its state in. Only the file that it made itself is believed: a copy
/// of it, as one from a backup, says what was true once.
///
/// Beside it, in `FILE.place`, stands which file of which disk that one is.
///
/// Lifetime: it alone has the file until it is destroyed.
/// Threads:  one at a time.
class witness_file {
public:
    /// `error_code::store_busy` if another process has it; `error_code::store_corrupt` if it is
    /// damaged, or was copied here.
    static result<witness_file> open(const std::filesystem::path& path, random_source& random);

    [[nodiscard]] const witness_state& state() const { return state_; }
    /// It survives a power cut from then on.
    result<> save(const witness_state& state);

private:
    explicit witness_file(std::filesystem::path path) : path_(std::move(path)) {}
    result<> begin(random_source& random);
    result<> require_own_place() const;

    std::filesystem::path path_;
    plain_file lock_;
    witness_state state_;
};

/// What a node keeps of its witness, in `orders.db-witness`.
[[nodiscard]] std::filesystem::path identity_file_of(const std::filesystem::path& database);
[[nodiscard]] std::string to_text(const witness_identity& self);
[[nodiscard]] std::optional<witness_identity> parse_witness_identity(std::string_view text);

/// Of a start of the node: another `starts` than any before, durably. `epoch` and `stream` are the
/// pair's.
result<witness_identity> begin_with_witness(const std::filesystem::path& database,
                                            const stream_id& stream, std::uint64_t epoch,
                                            random_source& random);
result<> save_identity(const std::filesystem::path& database, const witness_identity& self);

}  // namespace posthorn::standby
