#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "standby/door/introduction.hpp"
#include "standby/kept_copy.hpp"
#include "standby/link_channel.hpp"

namespace posthorn::standby {

/// One primary, for as long as it is there: what it ships is kept, and answered once it is on the
/// disk.
///
/// Lifetime: `run` once; what it is given outlives it.
/// Threads:  one.
class follow_session {
public:
    struct parts {
        kept_copy& copy;
        link_channel& link;
        const std::atomic<bool>& stopping;
        std::function<void()> heard;
        std::function<void(const std::string& service)> greeted;
        std::function<void()> generation_ended;
    };
    struct self {
        std::string service{};
        bool can_lead = false;
    };
    follow_session(const parts& with, self us, link_identity primary)
        : with_(with), us_(std::move(us)), primary_(std::move(primary)) {}

    /// Why it ended, which is never the standby's own fault.
    result<> run();
    /// Of this standby's disk.
    [[nodiscard]] const std::optional<error>& broken() const { return broken_; }
    /// Whether it has ended because the primary's role is ours now.
    [[nodiscard]] bool has_taken_role() const { return has_taken_role_; }

private:
    result<> greet();
    result<> answer(const link_message& said);
    result<> take(const link_message& said);
    result<> take_role(bytes_view body);
    result<> compare(bytes_view body);
    result<> say_failure(const error& why);
    result<> refuse(std::string_view why);
    result<> turn_away(const std::string& why);

    const parts with_;
    const self us_;
    const link_identity primary_;
    bool copying_ = false;  // In this session: half a copy of another one is not gone on with.
    bool has_taken_role_ = false;
    std::optional<error> broken_;
};

}  // namespace posthorn::standby
