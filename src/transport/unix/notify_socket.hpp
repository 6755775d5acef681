#pragma once

#include <string>
#include <string_view>

namespace posthorn {

/// Tells a service manager how we are, as sd_notify(3) describes it: one datagram a time, to the
/// socket that the manager names. Without a manager nothing happens, and a manager that does not
/// listen is not a reason to fail.
///
/// Threads: any.
class notify_socket {
public:
    /// The path, or `@` and an abstract name; empty for no manager.
    explicit notify_socket(std::string address) : address_(std::move(address)) {}

    [[nodiscard]] bool has_manager() const noexcept { return !address_.empty(); }
    void tell(std::string_view state) const noexcept;

private:
    std::string address_;
};

}  // namespace posthorn
