#pragma once

#include <cstdint>
#include <string_view>

#include "app/cli/kit/command.hpp"

namespace posthorn::cli {

/// How far a piece of work is, in some unit of its own.
struct progress_state {
    std::int64_t done = 0;
    std::int64_t all = 0;
};

/// `[#####.....]  50 % 120 requeue`: at most 60 columns. Pure.
[[nodiscard]] std::string progress_line(const progress_state& at, std::string_view note);

/// Draws how far a command is, in place, where standard error is a terminal; nowhere else.
///
/// Lifetime: `show` again and again, `finish` before anything else is written.
class progress_bar {
public:
    progress_bar(const console& terminal, bool silent);
    void show(const progress_state& at, std::string_view note);
    void finish();

private:
    std::ostream& out_;
    bool drawn_ = false;
    bool on_terminal_;
};

}  // namespace posthorn::cli
