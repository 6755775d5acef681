#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/run/environment.hpp"
#include "transport/broker/broker_message.hpp"
#include "transport/http/tls.hpp"

namespace posthorn {

/// A message that a broker has given us, and keeps until it is acknowledged.
struct received_message {
    broker_message what{};
    std::uint64_t tag = 0;         // Ours, for `acknowledge` and so on; never given twice.
    std::uint32_t deliveries = 1;  // With this one, as far as the broker counts them.
    std::string offset{};          // What tells its place in the broker's log; empty without one.
};

/// How a consumer gets along.
struct consumer_state {
    bool connected = false;
    /// Why it is not, or what it has to leave with the broker; empty before the first try.
    std::string trouble{};
    std::uint64_t connections = 0;
};

/// Takes messages from a queue or a stream of a broker.
///
/// A message is ours until it is acknowledged or put back, or until the connection is lost: then
/// its tag means nothing any more, and the broker gives it out again.
///
/// Lifetime: `start` once; destroyed when no coroutine uses it; that closes the connection, by which the
///           broker gets back what was not acknowledged.
/// Threads:  any.
class broker_consumer {
public:
    virtual ~broker_consumer() = default;

    /// `arrived` is called from any thread when there is something to take, or the state changed.
    virtual void start(std::function<void()> arrived) = 0;
    /// What has come. At most as much as the window allows is out at a time.
    [[nodiscard]] virtual std::vector<received_message> take() = 0;
    virtual void acknowledge(std::uint64_t tag) = 0;
    /// The broker may give it out again, to us or to another.
    virtual void put_back(std::uint64_t tag) = 0;
    /// A handler is still at work on it.
    virtual void extend(std::uint64_t tag) = 0;
    /// How long one may be worked on before the broker gives it to another; zero: for ever.
    [[nodiscard]] virtual std::chrono::milliseconds lease() const = 0;
    /// Whether the tag is still ours.
    [[nodiscard]] virtual bool holds(std::uint64_t tag) const = 0;
    [[nodiscard]] virtual consumer_state state() const = 0;
};

/// All that a consumer is made from. What it refers to outlives it.
struct consume_request {
    const environment& env;
    std::string url;
    std::map<std::string, std::string, std::less<>> options;  // Those of its kind.
    std::function<result<std::string>()> password;            // Empty where there is none.
    std::string service;                                      // Ours.
    std::string authority{};                                  // As in `tls_trust`.
    tls_files own{};
    std::size_t messages_max = 200;  // That are ours at a time,
    std::size_t bytes_max = std::size_t{8} << 20;
};

/// A kind of broker that can be consumed from. Each is described in its own folder, and
/// `consume/broker_kinds.cpp` lists them.
struct broker_kind {
    std::vector<std::string_view> schemes;
    std::vector<std::string_view> options;   // That a source may say,
    std::vector<std::string_view> required;  // and those of them that it must.
    std::string_view left_out{};             // Why this program cannot; empty where it can.
    bool has_offsets = false;

    /// `error_code::invalid_configuration`; quotes nothing that may be a secret.
    result<> (*check)(std::string_view url,
                      const std::map<std::string, std::string, std::less<>>& options);
    result<std::unique_ptr<broker_consumer>> (*consume)(consume_request wanted) = nullptr;
};

}  // namespace posthorn
