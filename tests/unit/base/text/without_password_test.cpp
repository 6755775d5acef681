#include "base/text/without_password.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(without_password, shows_all_but_the_password) {
    EXPECT_EQ(without_password("postgresql://a:secret@h/db"), "postgresql://a:(hidden)@h/db");
    EXPECT_EQ(without_password("postgresql://a:se@cret@h/db"), "postgresql://a:(hidden)@h/db");
    EXPECT_EQ(without_password("postgresql://a:secret@h"), "postgresql://a:(hidden)@h");
    EXPECT_EQ(without_password("postgressql://a:secret@h/db"), "postgressql://a:(hidden)@h/db");
    EXPECT_EQ(without_password("postgresql://h/db?password=secret&x=1"),
              "postgresql://h/db?password=(hidden)&x=1");
    EXPECT_EQ(without_password("postgresql://h/db?x=1&password=secret"),
              "postgresql://h/db?x=1&password=(hidden)");
    EXPECT_EQ(without_password("host=h password=secret dbname=d"),
              "host=h password=(hidden) dbname=d");
}

TEST(without_password, leaves_what_has_none) {
    for (const auto* const each : {"postgresql://a@h:5432/db", "postgresql://h:5432/db?x=a:b@c",
                                   "sqlite:data/a@b:c.db", "memory:", "", "://", "data/orders.db"})
        EXPECT_EQ(without_password(each), each);
}

}  // namespace
}  // namespace posthorn
