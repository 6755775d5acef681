#include "base/text/hide_secrets.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(hide_secrets, hides_keys_and_passwords_wherever_they_stand) {
    EXPECT_EQ(hide_secrets("the route 'base64:c2VjcmV0' is not understood"),
              "the route 'base64:(hidden)' is not understood");
    EXPECT_EQ(hide_secrets("env:base64:c2Vj+/cmV0== and base64:YWJj"),
              "env:base64:(hidden) and base64:(hidden)");
    EXPECT_EQ(hide_secrets("admin.keys: phk_AbC-12_x is not a hash"),
              "admin.keys: phk_(hidden) is not a hash");
    EXPECT_EQ(hide_secrets("'whsec_MfKQ9r8G+/==' or whsk_AbC="),
              "'whsec_(hidden)' or whsk_(hidden)");
    EXPECT_EQ(hide_secrets("http://me:pa:s@s@host:1/x?y=z"), "http://me:(hidden)@host:1/x?y=z");
    for (const auto* text : {"p@ss#word", "p/ss@w", "p?s@s", "p#@"})
        EXPECT_EQ(hide_secrets(std::string("at http://me:") + text + "@host:1/x, line 3"),
                  "at http://me:(hidden)@host:1/x, line 3")
            << text;
    EXPECT_EQ(hide_secrets(R"(at "http://me:a phrase@host:1" or me@x)"),
              R"(at "http://me:(hidden)@host:1" or me@x)");
    // Where it cannot be told what the password is, more is hidden.
    EXPECT_EQ(hide_secrets("http://me:pass@host/x?y=z@w"), "http://me:(hidden)@w");
    EXPECT_EQ(hide_secrets("a://u:p@h b://v:q@i"), "a://u:(hidden)@h b://v:(hidden)@i");
}

TEST(hide_secrets, hides_passwords_that_are_named_and_private_keys) {
    EXPECT_EQ(hide_secrets("Host=h;Password=p w;Port=1"), "Host=h;Password=(hidden) w;Port=1");
    EXPECT_EQ(hide_secrets("host=h password='p w' user=u"), "host=h password='(hidden)' user=u");
    EXPECT_EQ(hide_secrets("Data Source=a.db;PWD = x"), "Data Source=a.db;PWD = (hidden)");
    EXPECT_EQ(hide_secrets("postgres://h/d?password=p&sslmode=on"),
              "postgres://h/d?password=(hidden)&sslmode=on");
    EXPECT_EQ(hide_secrets("a -----BEGIN PRIVATE KEY-----\nAbC"), "a (hidden)");
    for (const auto* text : {"the password is wrong", "password=", "pwd", "Password = \"\"",
                             "-----BEGIN CERTIFICATE-----"})
        EXPECT_EQ(hide_secrets(text), text);
    EXPECT_EQ(hide_secrets(hide_secrets("password=p pwd=q")), "password=(hidden) pwd=(hidden)");
}

TEST(hide_secrets, hides_what_stands_where_the_name_of_a_variable_belongs) {
    EXPECT_EQ(hide_secrets("key = \"env:c2VjcmV0LWNhbmFyeQ==\", until"),
              "key = \"env:(hidden)\", until");
    EXPECT_EQ(hide_secrets("env:hunter-2!x env:ORDERS_SECRET"), "env:(hidden) env:ORDERS_SECRET");
    for (const auto* text :
         {"write env:NAME, file:PATH or none", "env:HOOK_{tenant}", "env:…", "\"env:STOCK_KEY\"",
          "env:(hidden)", "env:", "set `env:NAME`, or env:OTHER."})
        EXPECT_EQ(hide_secrets(text), text);
}

TEST(hide_secrets, leaves_everything_else_as_it_is) {
    for (const auto* text : {"", "write base64: and the key", "http://host:7400/a@b", "phk_",
                             "unix:///run/x.sock", "mail me@host: now"})
        EXPECT_EQ(hide_secrets(text), text);
}

TEST(hide_secrets, shows_the_name_of_a_variable_and_not_a_secret_in_its_place) {
    for (const auto* name : {"SECRET", "ORDERS_SECRET", "orders_secret_2", "_X", "KEY0123456789AB"})
        EXPECT_EQ(shown_variable(name), name);
    for (const auto* secret :
         {"c2VjcmV0LWNhbmFyeQ", "c2VjcmV0_mFyeQ", "0123456789abcdef0123456789abcdef", "base64:YWJj",
          "JBSWY3DPEHPK3PXPJBSWY3DP", "hunter-2", "pass word", "geheimnis!"})
        EXPECT_EQ(shown_variable(secret), "(hidden)") << secret;
}

}  // namespace
}  // namespace posthorn
