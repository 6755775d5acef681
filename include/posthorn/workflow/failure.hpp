#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace posthorn {

/// Ends a workflow as Failed, with this reason: `throw posthorn::failed("refused by ann");`
///
/// What was to be undone is undone first. Any exception that is neither this, nor `permanent`, nor
/// `cancelled`, is taken for a bug in the workflow, which is then held for a person.
class failed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A call was given up: its retries are spent, it was refused for good, or its time is over.
class call_failed : public failed {
public:
    /// The endpoint is a constant.
    call_failed(std::string_view endpoint, const std::string& why, bool may_have_taken_effect)
        : failed(std::string(endpoint).append(": ").append(why)),
          endpoint_(endpoint),
          may_have_taken_effect_(may_have_taken_effect) {}

    [[nodiscard]] std::string_view endpoint() const noexcept { return endpoint_; }
    /// False if the Command surely had no effect, so that nothing of it has to be undone.
    [[nodiscard]] bool may_have_taken_effect() const noexcept { return may_have_taken_effect_; }

private:
    std::string_view endpoint_;
    bool may_have_taken_effect_;
};

/// A workflow that this one waits for has failed or was cancelled, or there is none of that id; or a
/// child could not be begun, since its id was used before.
class child_failed : public call_failed {
public:
    /// The name is a constant.
    child_failed(std::string_view workflow, const std::string& why, bool was_cancelled)
        : call_failed(workflow, why, true), was_cancelled_(was_cancelled) {}

    [[nodiscard]] std::string_view workflow() const noexcept { return endpoint(); }
    [[nodiscard]] bool was_cancelled() const noexcept { return was_cancelled_; }

private:
    bool was_cancelled_;
};

/// What every `co_await` throws once the workflow is cancelled. It ends as Cancelled, after what was
/// to be undone is undone.
///
/// No `std::exception`, so that `catch (const std::exception&)` around a call does not hold it up.
class cancelled {
public:
    explicit cancelled(std::string reason) : reason_(std::move(reason)) {}
    [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

private:
    std::string reason_;
};

}  // namespace posthorn
