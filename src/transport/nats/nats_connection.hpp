#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <nats/nats.h>

#include "base/result.hpp"
#include "transport/broker/broker_message.hpp"
#include "transport/broker/broker_url.hpp"
#include "transport/http/tls.hpp"

namespace posthorn {

/// Where a NATS server is, and what is shown to it.
struct nats_place {
    broker_url url{};
    std::string name{};  // Of this connection, for those who look at the server.
    std::string authority{};
    tls_files own{};
};

struct nats_message_end {
    void operator()(natsMsg* one) const noexcept { natsMsg_Destroy(one); }
};
using nats_message = std::unique_ptr<natsMsg, nats_message_end>;

/// Is told of what happens on a connection, by threads of the library's.
class nats_listener {
public:
    virtual ~nats_listener() = default;

    /// To the connection's own inbox; `subject` is what follows its prefix.
    virtual void answered(std::string_view subject, nats_message what) = 0;
    virtual void ended(const error& why) = 0;
};

/// A connection to NATS with an inbox of its own. It does not connect again by itself: who uses it
/// makes a new one, since what was out on the old is lost.
///
/// Lifetime: the listener is not told any more once it is gone, whatever the library still does.
/// Threads:  any.
class nats_connection {
public:
    /// Blocks for five seconds at most. `error_code::unreachable` or `access_denied`.
    static result<std::unique_ptr<nats_connection>> open(const nats_place& at,
                                                         const std::string& password,
                                                         const std::shared_ptr<nats_listener>& to);
    ~nats_connection();
    nats_connection(const nats_connection&) = delete;
    nats_connection& operator=(const nats_connection&) = delete;

    [[nodiscard]] natsConnection* raw() const noexcept { return raw_; }
    [[nodiscard]] bool is_open() const { return natsConnection_IsClosed(raw_) == 0; }
    /// A subject that leads back to us.
    [[nodiscard]] std::string inbox(std::string_view end) const;

private:
    nats_connection() = default;

    natsConnection* raw_ = nullptr;
    natsSubscription* answers_ = nullptr;
    std::string prefix_;
    std::uintptr_t number_ = 0;  // Under which the library's threads find the listener.
};

/// What the library says of it.
[[nodiscard]] error nats_error(natsStatus code, std::string_view what);

/// A message of NATS, and the other way.
[[nodiscard]] result<nats_message> make_nats_message(const broker_message& from,
                                                     const std::string& reply);
[[nodiscard]] broker_message read_nats_message(natsMsg* from);
/// Empty if there is no such header.
[[nodiscard]] std::string nats_header(natsMsg* from, const char* name);

}  // namespace posthorn
