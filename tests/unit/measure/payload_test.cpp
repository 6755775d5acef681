#include "measure/payload.hpp"

#include <gtest/gtest.h>

namespace posthorn::measure {
namespace {

TEST(bench_payload, is_256_bytes_that_tell_their_number) {
    for (const std::uint64_t index :
         {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{1} << 60U}) {
        const auto payload = make_payload(index);
        EXPECT_EQ(payload.size(), 256U);
        EXPECT_EQ(index_of(payload), index);
    }
}

}  // namespace
}  // namespace posthorn::measure
