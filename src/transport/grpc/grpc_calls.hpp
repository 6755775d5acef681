#pragma once

// Included only where gRPC is built in.

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <grpcpp/grpcpp.h>

#include "base/async/task_group.hpp"
#include "base/async/waiter.hpp"
#include "base/log/log.hpp"
#include "transport/grpc/rf_receiver.pb.h"
#include "transport/http/limits.hpp"
#include "transport/wire/exchange.hpp"

namespace posthorn {

/// A call that is open: one request, or a stream of them.
class grpc_call {
public:
    virtual ~grpc_call() = default;

    /// Takes no request any more, and ends when those under way are answered.
    virtual void finish() = 0;
    /// Tells the peer nothing more.
    virtual void drop() = 0;
    /// Ends it if nothing has moved since the last time, and that is for the peer's sake.
    virtual void look() = 0;
};

/// The calls that are open, so that there are not too many, and a stop can wait for them.
///
/// Lifetime: outlives its calls.
/// Threads:  any.
class grpc_calls {
public:
    explicit grpc_calls(std::size_t count_max) : count_max_(count_max) {}

    /// Whether calls are let in; when no longer, those that are open are told.
    void open();
    void close();
    void drop_all();
    void look_at_all();

    /// Why a call cannot be let in; nothing if it was.
    std::optional<grpc::Status> enter(grpc_call& one);
    void leave(grpc_call& one);
    /// Returns when the last has left, which none enters after.
    task<> left();

private:
    std::size_t count_max_;
    std::mutex mutex_;
    std::set<grpc_call*> all_;
    bool open_ = false;
    bool closed_ = false;
    std::shared_ptr<waiter> empty_ = waiter::make();
};

/// What answers the requests of calls; all of it outlives them.
struct grpc_call_deps {
    boost::asio::any_io_executor where;
    const std::function<task<wire_reply>(wire_request)>& handler;
    const http_limits& limits;
    std::size_t requests_max;
    logger& log;
    task_group& tasks;  // On the executor.
    grpc_calls& calls;
};

/// Answers a call of one request.
grpc::ServerUnaryReactor* answer_call(grpc_call_deps& by, grpc::CallbackServerContext& context,
                                      const RFRequest& request, RFReply& reply);
/// Answers a stream of requests, each when its answer is there.
grpc::ServerBidiReactor<RFRequest, RFReply>* answer_stream(grpc_call_deps& by,
                                                           grpc::CallbackServerContext& context);

}  // namespace posthorn
