// expect: posthorn: the state of this workflow cannot be serialised; make it a plain aggregate or
// describe it with POSTHORN_STRUCT only: clang++-19
#include <chrono>
#include <string>

#include <posthorn/workflow.hpp>

class held {
public:
    int value() const { return value_; }

private:
    int value_ = 0;
};
posthorn::workflow<void> code(posthorn::flow<held>& f) {
    co_await f.sleep(std::chrono::seconds(1));
}
