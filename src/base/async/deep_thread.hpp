#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <pthread.h>

namespace posthorn {

/// One thread whose stack is as large as it is said to be, for code that goes as deep as what it
/// reads: what the system gives may be less, and beyond it the process ends.
///
/// Lifetime: the destructor joins.
class deep_thread {
public:
    using job = std::move_only_function<void()>;

    /// `work` must not throw. `std::system_error` if the system gives no such thread.
    deep_thread(std::string name, std::size_t stack_bytes, job work);
    ~deep_thread();
    deep_thread(const deep_thread&) = delete;
    deep_thread& operator=(const deep_thread&) = delete;

private:
    static void* start(void* self);

    std::string name_;
    job work_;
    pthread_t thread_{};
};

}  // namespace posthorn
