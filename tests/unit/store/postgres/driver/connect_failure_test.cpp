#include <gmock/gmock.h>

#include "base/time/clock.hpp"
#include "store/postgres/driver/connection.hpp"

namespace posthorn::postgres {
namespace {

using testing::HasSubstr;
using testing::Not;

// The client's own words quote what it takes for a host, a port or a token.
TEST(connect_failure, quotes_no_part_of_a_password_that_is_not_escaped) {
    const real_clock time;
    for (const std::string url :
         {"postgresql://bob:p%zzCANARY@127.0.0.1:1/x", "postgresql://bob:p@CANARY@127.0.0.1:1/x",
          "postgresql://bob:CAN/ARY@127.0.0.1:1/x",
          "postgresql://bob@127.0.0.1:1/x?password=%zzCANARY"}) {
        const auto opened = connection::open({.url = url}, time);
        ASSERT_FALSE(opened) << url;
        EXPECT_EQ(opened.error().code(), error_code::invalid_configuration);
        EXPECT_THAT(opened.error().what(), Not(HasSubstr("CAN")));
        EXPECT_THAT(opened.error().what(), Not(HasSubstr("ARY")));
        EXPECT_THAT(opened.error().what(), HasSubstr("write % as %25, @ as %40 and / as %2F"));
    }
}

}  // namespace
}  // namespace posthorn::postgres
