#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>

#include "base/async/deep_thread.hpp"
#include "base/run/environment.hpp"
#include "transport/amqp/amqp_connection.hpp"
#include "transport/dns/name_probe.hpp"

namespace posthorn {

/// What is done on a connection: publishing, or consuming. All of it is called by the link's
/// thread.
class amqp_work {
public:
    virtual ~amqp_work() = default;

    /// Whether a connection is wanted now. A publisher wants one when it has something to say.
    [[nodiscard]] virtual bool wants_connection() = 0;
    /// Of a new connection, before anything else.
    virtual result<> begin(amqp_connection& on) = 0;
    /// Whatever was asked of it meanwhile.
    virtual result<> attend(amqp_connection& on) = 0;
    /// Whether what comes is to be read now.
    [[nodiscard]] virtual bool may_read() = 0;
    virtual void happened(const amqp_event& what) = 0;
    /// The connection has ended.
    virtual void lost(const error& why) = 0;
    /// There is none, and the next try is not yet due.
    virtual void unreached(const error& why) = 0;
};

/// Keeps a connection to RabbitMQ for as long as its work wants one, on a thread of its own, since
/// librabbitmq blocks. While the broker is not reached it is tried again after pauses of 0.1 s,
/// doubled up to two seconds, so that one which comes back is found soon.
///
/// Lifetime: the work outlives it. The destructor cuts the connection, whatever the broker does, and
///           joins; while none is there yet it waits for one, for `amqp_place::patience` at most.
/// Threads:  any.
class amqp_link {
public:
    struct deps {
        const environment& env;
        amqp_place at;
        std::function<result<std::string>()> password;  // Read anew for each connection.
    };

    amqp_link(deps with, amqp_work& work);
    ~amqp_link();
    amqp_link(const amqp_link&) = delete;
    amqp_link& operator=(const amqp_link&) = delete;

    /// Lets the work be looked at.
    void wake();

private:
    void run();
    result<> serve(amqp_connection& on);
    result<> connect(amqp_connection& into);
    /// `unreached` is what those are told who ask meanwhile; null: they can wait.
    void rest(std::chrono::milliseconds pause, const error* unreached);
    /// Until it is woken, or something can be read; false if neither happens in time. Negative: for
    /// ever.
    bool wait(int descriptor, std::chrono::milliseconds timeout);

    /// Of the system's, which can be waited for together with a socket.
    struct system_bell {
        system_bell();
        ~system_bell();
        system_bell(const system_bell&) = delete;
        system_bell& operator=(const system_bell&) = delete;
        int descriptor;
    };

    deps with_;
    amqp_work& work_;
    system_bell bell_;
    name_probe names_;
    std::atomic<bool> stopping_ = false;
    std::mutex mutex_;
    amqp_connection* open_ = nullptr;  // That the destructor may cut.
    deep_thread thread_;               // Last: it joins before the rest goes.
};

}  // namespace posthorn
