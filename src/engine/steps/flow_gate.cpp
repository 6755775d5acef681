#include "engine/steps/flow_gate.hpp"

#include <utility>

namespace posthorn {

void flow_gate::open(executor& to) {
    const std::scoped_lock lock(mutex_);
    to_ = &to;
}

void flow_gate::close() {
    const std::scoped_lock lock(mutex_);
    to_ = nullptr;
}

bool flow_gate::post(executor::job work) {
    const std::scoped_lock lock(mutex_);
    if (to_ == nullptr) return false;
    to_->post(std::move(work));
    return true;
}

}  // namespace posthorn
