// expect: posthorn: an argument of this workflow cannot be serialised, as a view or an undescribed
// class cannot; take text, numbers or a described struct only: clang++-19
#include <chrono>
#include <string>
#include <string_view>

#include <posthorn/workflow.hpp>

posthorn::workflow<void> code(posthorn::flow<>& f, std::string_view) {
    co_await f.sleep(std::chrono::seconds(1));
}
