#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time/clock.hpp"
#include "transport/link/link_socket.hpp"

namespace posthorn {

/// What one who has connected says before it is let in, and what it is told. Without I/O.
class link_greeting {
public:
    virtual ~link_greeting() = default;

    /// How many bytes it takes next, which the lobby has room for; zero once it is over.
    [[nodiscard]] virtual std::size_t wanted() const = 0;
    /// Just so many. What to answer, if anything.
    virtual std::vector<std::byte> take(std::span<const std::byte> bytes) = 0;
};

/// Where those wait who have connected and have not proven who they are. None holds up another,
/// and none gets more than a few kilobytes and a few seconds.
///
/// Lifetime: what it is given outlives it.
/// Threads:  one.
class link_lobby {
public:
    struct limits {
        std::size_t waiting_max = 16;  // The oldest of more makes room: who has the key is quick.
        std::chrono::milliseconds patience = std::chrono::seconds{3};  // For all of a greeting.
    };
    struct parts {
        link_listener& at;
        const clock& time;
        std::function<std::optional<link_security>()> security;  // Empty: none is let in now.
        std::function<std::unique_ptr<link_greeting>()> greet;
    };
    struct arrival {
        link_socket socket;
        std::unique_ptr<link_greeting> greeting;
    };
    /// What a look at them came to.
    struct news {
        std::vector<arrival> over{};         // Those whose greetings are.
        std::vector<std::string> trouble{};  // Why others are not waited for any more.
        bool is_closed = false;              // The listener was cut off.
    };
    static constexpr std::size_t bytes_max = 4096;  // At a time, of one.

    link_lobby(limits most, parts with) : most_(most), with_(std::move(with)) {}

    /// Waits until there is something to do, but not for longer than this.
    news look(std::chrono::milliseconds at_most);
    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }

private:
    struct guest {
        link_socket socket;
        std::unique_ptr<link_greeting> greeting;
        steady_time since{};
        std::vector<std::byte> heard{};
        bool is_secure = false;
        bool wants_to_write = false;
        std::string trouble{};
    };
    enum class progress : std::uint8_t { waits, over, gone };

    void let_in(link_socket came, news& into);
    void drop_overdue(news& into);
    void drop_oldest(news& into);
    progress go_on(guest& one);
    progress shake(guest& one);
    progress listen(guest& one);
    [[nodiscard]] std::chrono::milliseconds until_next(std::chrono::milliseconds at_most) const;

    limits most_;
    parts with_;
    std::vector<guest> waiting_;  // The oldest first.
    bool has_no_room_ = false;    // The system has no descriptors left: not asked for a moment.
};

}  // namespace posthorn
