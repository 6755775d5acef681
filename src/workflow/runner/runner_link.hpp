#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace posthorn {

/// A runner that can be asked. One that has failed once is of no use any more.
///
/// Lifetime: ends its runner with it.
/// Threads:  one at a time; it blocks.
class runner_link {
public:
    virtual ~runner_link() = default;

    /// The body of the completions to this body of a batch. `timed_out` if it took longer, `closed` if
    /// the runner is gone, `malformed_request` for what is no answer.
    [[nodiscard]] virtual result<std::string> exchange(std::string_view batch,
                                                       std::chrono::milliseconds within) = 0;
};

/// One that is ready. Refused, it says why.
using runner_starter = std::function<result<std::unique_ptr<runner_link>>()>;

}  // namespace posthorn
