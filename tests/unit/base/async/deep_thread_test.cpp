#include "base/async/deep_thread.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

std::size_t stack_of_this_thread() {
    pthread_attr_t with{};
    EXPECT_EQ(pthread_getattr_np(pthread_self(), &with), 0);
    void* lowest = nullptr;
    std::size_t bytes = 0;
    EXPECT_EQ(pthread_attr_getstack(&with, &lowest, &bytes), 0);
    pthread_attr_destroy(&with);
    return bytes;
}

TEST(deep_thread, has_the_stack_that_it_was_asked_for_and_joins) {
    for (const std::size_t asked : {std::size_t{1} << 20, std::size_t{32} << 20}) {
        std::size_t given = 0;
        {
            const deep_thread one("test", asked, [&] { given = stack_of_this_thread(); });
        }
        EXPECT_GE(given, asked);
    }
}

TEST(deep_thread, is_refused_a_stack_that_no_system_gives) {
    EXPECT_THROW(deep_thread("test", 1, [] {}), std::system_error);
}

}  // namespace
}  // namespace posthorn
