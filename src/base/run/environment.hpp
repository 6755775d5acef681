#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "base/async/executor.hpp"
#include "base/async/timer.hpp"
#include "base/log/log.hpp"
#include "base/random.hpp"
#include "base/time/clock.hpp"
#include "base/trace/tracer.hpp"

namespace posthorn {

/// What every part of a node stands on: real in a service, virtual in the simulator.
///
/// Lifetime: all of it outlives what is built on it.
struct environment {
    class clock& clock;
    class timer& timer;
    random_source& random;
    logger& log;
    boost::asio::any_io_executor network;  // One thread, or a strand.
    executor& readers;                     // Where a database is asked, which blocks.
    executor& workers;                     // Where an application's own code may block.
    tracer* traces = nullptr;              // Null where nothing can be traced; see `tracing`.
};

}  // namespace posthorn
