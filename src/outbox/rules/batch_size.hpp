#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace posthorn {

/// What is known of a batch that came back.
struct batch_result {
    std::size_t rows = 0;
    std::chrono::nanoseconds took{};
    bool answered = true;  // The peer was there, whatever it said.
};

/// How many messages to put into one request.
///
/// | the batch                                     | the next ones hold         |
/// |-----------------------------------------------|----------------------------|
/// | got no answer, or took a quarter of its time  | half as many, one at least |
/// | was full and took less than a sixteenth of it | twice as many              |
/// | anything else                                 | as many                    |
///
/// So a receiver that is slow gets requests that it can answer in time, and a message that makes it
/// fall silent ends up alone. It begins with the most: most receivers are well.
///
/// Pure. Threads: one at a time.
class batch_size {
public:
    explicit batch_size(std::size_t rows_max) : max_(std::max<std::size_t>(rows_max, 1)) {}

    [[nodiscard]] std::size_t rows() const noexcept { return std::min(rows_, max_); }
    void change_max(std::size_t rows_max) {
        // One that was as large as it could be stays so.
        if (rows_ >= max_) rows_ = npos;
        max_ = std::max<std::size_t>(rows_max, 1);
    }
    /// `timeout` is what a batch may take.
    void note(const batch_result& seen, std::chrono::nanoseconds timeout) {
        // One larger than the size is of before it shrank, and says nothing of the size now.
        if (seen.rows > rows()) return;
        if (!seen.answered || seen.took * 4 >= timeout)
            rows_ = std::max<std::size_t>(rows() / 2, 1);
        else if (seen.rows == rows() && seen.took * 16 < timeout)
            rows_ = std::min(rows() * 2, max_);
    }

private:
    static constexpr auto npos = static_cast<std::size_t>(-1);

    std::size_t max_;
    std::size_t rows_ = npos;
};

}  // namespace posthorn
