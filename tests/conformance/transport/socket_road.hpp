#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/log/log.hpp"
#include "base/time/clock.hpp"
#include "conformance/transport/road.hpp"
#include "support/fault_proxy.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_environment.hpp"
#include "transport/wire/exchange.hpp"
#include "transport/wire/peer_keys.hpp"
#include "transport/wire/wire_server.hpp"

namespace posthorn::conformance {

/// A road of bytes: a server of the wire, a proxy before it that does the harm, and transports of
/// the wire towards that.
///
/// Lifetime: a derived class calls `open` when it is built and `close` before it goes.
class socket_road : public road {
public:
    std::unique_ptr<transport> connect(road_settings settings) override;
    void refuse() override { proxy_->refuse(); }
    void break_requests() override;
    void lose_answers() override;
    void truncate_answers() override;
    void dribble() override;
    void hold() override { proxy_->hold(false); }
    void mend() override;
    void replay() override { proxy_->replay(); }
    void forge_answers(forgery how) override;
    void start_peer() override;

protected:
    explicit socket_road(const road_parts& parts);

    /// Starts the server, and the proxy before it.
    void open(test::socket_address proxy_at);
    void close();
    /// On the address that it had before, if any; what it answers comes from `answer`.
    virtual test::socket_address listen() = 0;
    virtual std::unique_ptr<wire_channel> make_channel(const test::socket_address& to,
                                                       std::chrono::milliseconds patience) = 0;

    task<wire_reply> answer(wire_request request);

    road_parts parts_;
    real_clock clock_;
    logger log_ = logger::null();
    worker_threads workers_{"workers"};
    test::test_environment env_{{.log = log_,
                                 .timer = &parts_.time,
                                 .network = parts_.threads.executor(),
                                 .workers = &workers_}};
    test::temporary_directory folder_;

private:
    void forge(wire_reply& reply, const wire_request& request);

    peer_keys keys_;  // Those that both sides hold.
    peer_keys wrong_keys_;
    wire_server server_;
    std::mutex mutex_;
    forgery forged_ = forgery::none;
    std::optional<wire_reply> earlier_;
    std::unique_ptr<test::fault_proxy> proxy_;
};

}  // namespace posthorn::conformance
