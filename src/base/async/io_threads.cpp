#include "base/async/io_threads.hpp"

#include "base/assert.hpp"
#include "base/async/executor.hpp"

namespace posthorn {

io_threads::io_threads(const std::string& name, std::size_t count)
    : context_(static_cast<int>(count)), open_(context_.get_executor()) {
    POSTHORN_ASSERT(count > 0);
    threads_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        threads_.emplace_back([this, name] {
            name_this_thread(name);
            context_.run();
        });
    }
}

io_threads::~io_threads() { stop(); }

void io_threads::stop() {
    open_.reset();
    context_.stop();
    threads_.clear();
}

}  // namespace posthorn
