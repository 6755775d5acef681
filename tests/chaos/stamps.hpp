#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace posthorn::chaos {

/// What a handler answers: which message it was, and a number that no run of it has twice. So an
/// answer to a duplicate that is not the first one, to the byte, shows.
[[nodiscard]] std::string make_stamp(std::int64_t message, std::uint64_t run);

/// The answers that went over a way, whoever got them.
///
/// Threads: any.
class stamps {
public:
    /// Looks through a part of an answer. `tail` is what was left of the one before, and is left
    /// for the next.
    void read(std::string& tail, std::string_view bytes);
    /// A duplicate was answered without a stamp, which every handler gives.
    void miss();
    /// What was answered to each message, and how often that was seen.
    struct seen {
        std::string stamp;
        std::uint64_t times = 0;
    };
    [[nodiscard]] std::map<std::int64_t, seen> all() const;
    /// Answers that were not the same as before.
    [[nodiscard]] std::vector<std::string> differences() const;

private:
    void note(std::string_view stamp);

    mutable std::mutex mutex_;
    std::map<std::int64_t, seen> seen_;
    std::vector<std::string> differences_;
};

}  // namespace posthorn::chaos
