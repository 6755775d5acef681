#pragma once

#include <mutex>

#include "base/async/executor.hpp"

namespace posthorn {

/// Posts to the flow thread for as long as that is there.
///
/// Lifetime: shared with what may still want to post when the engine is gone.
/// Threads:  any.
class flow_gate {
public:
    void open(executor& to);
    void close();
    /// False if it is not there, and then nothing is done.
    bool post(executor::job work);

private:
    std::mutex mutex_;
    executor* to_ = nullptr;
};

}  // namespace posthorn
