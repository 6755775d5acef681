#include "base/async/deep_thread.hpp"

#include <system_error>
#include <utility>

#include "base/async/executor.hpp"

namespace posthorn {
namespace {

void must(int code, const char* what) {
    if (code != 0) throw std::system_error(code, std::generic_category(), what);
}

class attributes {
public:
    attributes() { must(pthread_attr_init(&raw_), "pthread_attr_init"); }
    ~attributes() { pthread_attr_destroy(&raw_); }
    attributes(const attributes&) = delete;
    attributes& operator=(const attributes&) = delete;

    [[nodiscard]] pthread_attr_t* get() noexcept { return &raw_; }

private:
    pthread_attr_t raw_{};
};

}  // namespace

deep_thread::deep_thread(std::string name, std::size_t stack_bytes, job work)
    : name_(std::move(name)), work_(std::move(work)) {
    attributes with;
    must(pthread_attr_setstacksize(with.get(), stack_bytes), "pthread_attr_setstacksize");
    must(pthread_create(&thread_, with.get(), &deep_thread::start, this), "pthread_create");
}

deep_thread::~deep_thread() { pthread_join(thread_, nullptr); }

void* deep_thread::start(void* self) {
    auto& of = *static_cast<deep_thread*>(self);
    name_this_thread(of.name_);
    of.work_();
    return nullptr;
}

}  // namespace posthorn
