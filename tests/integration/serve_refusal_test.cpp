// What `posthorn serve` refuses to start with: exit code 2, the file, the line, what to do.
#include "sidecar_fixture.hpp"

namespace posthorn::integration {
namespace {

using test::run_process;
using testing::HasSubstr;
using testing::Not;

// Valid on the first day of 2020 alone.
constexpr auto expired_key = R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7EildlfUGVH1SfjJ
/B/mw2RQFEVJEgn4cLK3SicnGo6hRANCAASEH3bGDW4Z1qk0e7fc8OxCPMzHytUM
er5WGB6/K2PxYK3xLj8E4/kkQ6obcxjEMA2Z7z8UPm2jYMhP6UKq5lBO
-----END PRIVATE KEY-----
)";
constexpr auto expired_certificate = R"(-----BEGIN CERTIFICATE-----
MIIBQjCB6aADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
dDAeFw0yMDAxMDEwMDAwMDBaFw0yMDAxMDIwMDAwMDBaMBQxEjAQBgNVBAMMCWxv
Y2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABIQfdsYNbhnWqTR7t9zw
7EI8zMfK1Qx6vlYYHr8rY/FgrfEuPwTj+SRDqhtzGMQwDZnvPxQ+baNgyE/pQqrm
UE6jLDAqMAkGA1UdEwQCMAAwHQYDVR0OBBYEFBx0HQ5o5L72sjZzZyejKux8JaUS
MAoGCCqGSM49BAMCA0gAMEUCIF+o4fJitgUJOjyPyHJ+SnKLQr1LazE2f+HM/JaL
9HQZAiEA77POhYQE7GjlB/HHwgy1o2vqaLI9wJGfPkI8zfnPFJw=
-----END CERTIFICATE-----
)";

class serve_refuses : public testing::Test {
protected:
    [[nodiscard]] std::string problem_of(const std::string& text) const {
        std::ofstream(folder_.file("p.toml")) << text;
        const auto ended =
            run_process({POSTHORN_PROGRAM, "serve", "--config", folder_.file("p.toml")});
        EXPECT_EQ(ended.end, exit_2) << ended.err;
        EXPECT_EQ(ended.out, "");
        return ended.err;
    }
    [[nodiscard]] std::string line(int number) const {
        return "posthorn: " + folder_.file("p.toml") + ":" + std::to_string(number) + ": ";
    }

    test::temporary_directory folder_;
};

TEST_F(serve_refuses, an_unknown_key) {
    EXPECT_EQ(problem_of("[store]\nurrl = \"sqlite:x.db\"\n"),
              line(2) + "unknown key 'urrl' in [store]; did you mean 'url'?\n");
}

TEST_F(serve_refuses, a_wrong_type) {
    EXPECT_THAT(problem_of("[outbox]\nbatch_size = \"many\"\n"),
                HasSubstr(line(2) + "outbox.batch_size cannot be \"many\"; write a whole number"));
}

TEST_F(serve_refuses, a_secret_that_is_missing_or_open_to_others) {
    EXPECT_THAT(problem_of("[secrets]\nstock = \"env:POSTHORN_NOT_SET\"\n"),
                HasSubstr(line(2) + "secrets.stock: the environment variable POSTHORN_NOT_SET is "
                                    "not set"));
    std::ofstream(folder_.file("keys")) << key_text;
    std::filesystem::permissions(folder_.file("keys"), std::filesystem::perms(0644));
    const auto open = problem_of("[secrets]\nstock = \"file:keys\"\n");
    EXPECT_THAT(open, HasSubstr(line(2)));
    EXPECT_THAT(open, HasSubstr("chmod 600"));
    EXPECT_THAT(open, Not(HasSubstr("AAECAwQF")));
}

TEST_F(serve_refuses, a_certificate_that_expired) {
    std::ofstream(folder_.file("cert.pem")) << expired_certificate;
    std::ofstream(folder_.file("key.pem")) << expired_key;
    const auto problem = problem_of(
        "[listen]\nhttp = \"127.0.0.1:0\"\nadmin = \"\"\n"
        "[tls]\ncertificate = \"cert.pem\"\nkey = \"key.pem\"\n");
    EXPECT_THAT(problem, HasSubstr(line(5)));
    EXPECT_THAT(problem, HasSubstr("cert.pem"));
    EXPECT_THAT(problem, HasSubstr("expired"));
}

TEST_F(serve_refuses, a_route_of_a_scheme_that_does_not_exist) {
    EXPECT_THAT(problem_of("[routes]\nstock = \"pigeon://stock:1\"\n"),
                HasSubstr(line(2) + "routes.stock: the route 'pigeon://stock:1' is not understood; "
                                    "write http://"));
}

TEST_F(serve_refuses, a_route_without_a_secret) {
    EXPECT_THAT(problem_of("[secrets]\nshop = \"" + std::string(key_text) +
                           "\"\n[routes]\nstock = \"http://127.0.0.1:1\"\n"),
                HasSubstr(line(4) + "routes.stock has no secret; add stock under [secrets]"));
}

TEST_F(serve_refuses, an_address_that_is_in_use) {
    const test::raw_listener other;
    const auto address = "\"127.0.0.1:" + std::to_string(other.port()) + "\"\n";
    EXPECT_THAT(problem_of("[listen]\nadmin = \"\"\nhttp = " + address),
                HasSubstr(line(3) + "listen.http: cannot listen on 127.0.0.1:"));
    EXPECT_THAT(problem_of("[listen]\nhttp = \"\"\nadmin = " + address),
                HasSubstr(line(3) + "listen.admin: cannot listen on 127.0.0.1:"));
}

TEST_F(serve_refuses, a_socket_that_cannot_be_and_an_authority_that_is_none) {
    std::ofstream(folder_.file("plain")) << "no folder";
    const std::string quiet = "[listen]\nhttp = \"\"\nadmin = \"\"\n";
    EXPECT_THAT(problem_of(quiet + "unix = \"plain/p.sock\"\n"),
                HasSubstr(line(4) + "listen.unix: "));
    EXPECT_THAT(problem_of(quiet + "[tls]\nauthority = \"plain\"\n"),
                HasSubstr(line(5) + "tls.authority: "));
}

TEST_F(serve_refuses, sql_that_is_none) {
    EXPECT_THAT(problem_of("[handlers]\nA = \"sql:INSRT INTO t VALUES (:a)\"\n"),
                HasSubstr(line(2) + "handlers.A: the database says: "));
    EXPECT_THAT(problem_of("[handlers]\nA = \"sql:COMMIT\"\n"),
                HasSubstr(line(2) + "handlers.A: COMMIT is not for handlers"));
}

}  // namespace
}  // namespace posthorn::integration
