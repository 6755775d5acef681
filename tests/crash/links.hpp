#pragma once

#include <string>

#include <fmt/format.h>

#include "crash/canary.hpp"
#include "crash/chain.hpp"

namespace posthorn::crash {

// What the harnesses with real processes exchange. The source adds links to a chain, in numbers
// without a gap, and sends each; the target records them as they come, in a chain of its own, and
// sends a receipt for some. No table has anything unique that would hide a double effect.

inline constexpr auto source_tables =
    "CREATE TABLE IF NOT EXISTS chain (n INTEGER, hash TEXT);"
    "CREATE INDEX IF NOT EXISTS chain_n ON chain (n);"
    "CREATE TABLE IF NOT EXISTS receipts (n INTEGER, receipt TEXT)";
inline constexpr auto target_tables =
    "CREATE TABLE IF NOT EXISTS effects (place INTEGER PRIMARY KEY, n INTEGER, hash TEXT,"
    " order_key TEXT, message_id TEXT, receipt TEXT, link TEXT)";

/// Half of the messages have one of a few keys.
[[nodiscard]] inline std::string order_key_of(std::int64_t n) {
    return n % 2 == 0 ? "" : fmt::format("key-{}", n % 8);
}
/// Whether the target sends a receipt for it, where it is to send any.
[[nodiscard]] inline bool wants_receipt(std::int64_t n) { return n % 4 == 0; }

[[nodiscard]] inline std::string payload_of(std::int64_t n, std::string_view hash) {
    return fmt::format(R"({{"n":{},"hash":"{}","note":"{}"}})", n, hash, canary_payload);
}
[[nodiscard]] inline std::string headers_with_canary() {
    return fmt::format(R"({{"x-note":"{}"}})", canary_payload);
}

}  // namespace posthorn::crash
