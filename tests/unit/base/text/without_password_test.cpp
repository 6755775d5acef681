#include "base/text/without_password.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(without_password, shows_all_but_the_password) {
    EXPECT_EQ(without_password("postgresql://a:secret@h/db"), "postgresql://a:(hidden)@h/db");
    EXPECT_EQ(without_password("postgresql://a:se@cret@h/db"), "postgresql://a:(hidden)@h/db");
    EXPECT_EQ(without_password("postgresql://a:secret@h"), "postgresql://a:(hidden)@h");
    EXPECT_EQ(without_password("postgressql://a:secret@h/db"), "postgressql://a:(hidden)@h/db");
    EXPECT_EQ(without_password("postgresql://h/db?password=secret&port=1"),
              "postgresql://h/db?password=(hidden)&port=1");
    EXPECT_EQ(without_password("postgresql://h/db?port=1&password=secret"),
              "postgresql://h/db?port=1&password=(hidden)");
    EXPECT_EQ(without_password("host=h password=secret dbname=d"),
              "host=h password=(hidden) dbname=d");
}

TEST(without_password, hides_one_that_is_not_written_as_it_should_be) {
    EXPECT_EQ(without_password("postgresql://a:se/cret@h/db"), "postgresql://a:(hidden)@h/db");
    EXPECT_EQ(without_password("postgresql://a:se?cret@h/db"), "postgresql://a:(hidden)@h/db");
    EXPECT_EQ(without_password("postgresql://a:se%zzcret@h/db"), "postgresql://a:(hidden)@h/db");
    EXPECT_EQ(without_password("postgresql://a:12/secret@h/db"), "postgresql://a:(hidden)@h/db");
    EXPECT_EQ(without_password("postgres:/a:secret@h/db"), "postgres:/a:(hidden)@h/db");
    EXPECT_EQ(without_password("postgresql:a:secret@h/db"), "postgresql:a:(hidden)@h/db");
    EXPECT_EQ(without_password("postgresql://a@h/db?passwrd=secret&sslmode=require"),
              "postgresql://a@h/db?passwrd=(hidden)&sslmode=require");
    EXPECT_EQ(without_password("postgresql://a@h/db?sslpassword=secret"),
              "postgresql://a@h/db?sslpassword=(hidden)");
    EXPECT_EQ(without_password("postgresql://a@h/db?Password=secret"),
              "postgresql://a@h/db?Password=(hidden)");
}

TEST(without_password, tells_one_that_has_to_be_escaped) {
    for (const auto* const each :
         {"postgresql://a:p%zz@h/db", "postgresql://a:p@q@h/db", "postgresql://a:p/q@h/db",
          "postgresql://a:p%@h/db", "postgresql://a:p%4@h/db", "postgresql://a:p%00@h/db",
          "postgresql://h/db?password=%zz"})
        EXPECT_TRUE(has_unescaped_password(each)) << each;
    for (const auto* const each :
         {"postgresql://a:p%40%2Fq@h:5432/db?sslmode=require", "postgresql://a@h/db",
          "postgresql://h/db", "postgresql:///db?host=/run/postgresql", "postgresql://a:p:q?#@h/db",
          "postgresql://h/db?password=p@/q", "sqlite:data/a@b:c%.db", "memory:", ""})
        EXPECT_FALSE(has_unescaped_password(each)) << each;
}

TEST(without_password, leaves_what_has_none) {
    for (const auto* const each : {"postgresql://a@h:5432/db", "postgresql://h:5432/db?user=a:b@c",
                                   "postgresql:///db?host=/run/postgresql&user=a@b",
                                   "sqlite:data/a@b:c.db", "memory:", "", "://", "data/orders.db"})
        EXPECT_EQ(without_password(each), each);
}

}  // namespace
}  // namespace posthorn
