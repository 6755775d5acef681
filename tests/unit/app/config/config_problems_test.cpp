#include "app/config/config_problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(config_problems, come_in_the_order_of_the_file) {
    config_problems found;
    EXPECT_TRUE(found.outcome());
    found.add("a.toml:10", "ten");
    found.add("default", "nowhere");
    found.add("a.toml:9", "nine; write 3: or 4");
    found.add("a.toml:9", "nine again");
    EXPECT_THAT(found.texts(), ElementsAre("a.toml:9: nine; write 3: or 4", "a.toml:9: nine again",
                                           "a.toml:10: ten", "default: nowhere"));
    EXPECT_EQ(found.outcome().error().code(), error_code::invalid_configuration);
}

TEST(config_problems, keep_the_code_that_all_of_them_have) {
    config_problems found;
    found.add(error(error_code::secret_unavailable, "a.toml:1: x"));
    EXPECT_EQ(found.outcome().error().code(), error_code::secret_unavailable);
    found.add("a.toml:2", "y");
    EXPECT_EQ(found.outcome().error().code(), error_code::invalid_configuration);
}

TEST(config_problems, hide_secrets) {
    config_problems found;
    found.add("a.toml:1", "x cannot be base64:AAECAwQFBgcICQoLDA0ODw==");
    EXPECT_THAT(found.outcome().error().what(), Not(HasSubstr("AAEC")));
}

TEST(config_problems, know_the_line_wherever_the_file_lies) {
    EXPECT_EQ(line_of_problem("/a:b/c:12/p.toml:7: x"), 7);
    EXPECT_EQ(line_of_problem("p.toml:18446744073709551616: x"), no_line);
    EXPECT_EQ(line_of_problem("default: 127.0.0.1:7400 is taken"), no_line);
    EXPECT_EQ(line_of_problem(""), no_line);
}

}  // namespace
}  // namespace posthorn
