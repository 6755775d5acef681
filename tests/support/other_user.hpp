#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace posthorn::test {

/// What came of another user's try to speak on a Unix socket.
enum class visit : std::uint8_t {
    no_entry,   // It could not connect.
    dismissed,  // It connected and was closed on without a word.
    answered,
    failed,  // The try itself did not work, for instance because we are not root.
};

/// Connects to `path` in a process of user `who`, sends `bytes` and waits for what comes. Needs
/// root.
[[nodiscard]] visit visit_as(uid_t who, const std::string& path, std::string_view bytes);

}  // namespace posthorn::test
