#include "app/config/secrets.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace posthorn {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view first = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
constexpr std::string_view second = "base64:HxAREhMUFRYXGBkaGxwdHgABAgMEBQYHCAkKCwwNDg8=";
constexpr std::string_view first_id = "c7c27348fbf33a91";  // As docs/reference/wire.md has it.

class secrets : public testing::Test {
protected:
    ~secrets() override { ::unsetenv("POSTHORN_TEST_SECRET"); }

    void write(std::string_view text, unsigned mode = 0600) const {
        std::ofstream(folder_.file("keys")) << text;
        std::filesystem::permissions(folder_.file("keys"), std::filesystem::perms(mode));
    }
    [[nodiscard]] result<peer_keys::rings> load(std::string_view value) const {
        auto settings = parse_config(fmt::format("[secrets]\nstock = {}", value), "p.toml").value();
        settings.folder = folder_.path();
        return load_secrets(settings);
    }
    [[nodiscard]] std::string problem_of(std::string_view value) const {
        const auto loaded = load(value);
        if (loaded) return "no problem";
        EXPECT_EQ(loaded.error().code(), error_code::secret_unavailable);
        EXPECT_THAT(loaded.error().what(), Not(HasSubstr("canary")));
        return loaded.error().what();
    }

    test::temporary_directory folder_;
};

TEST_F(secrets, are_not_quoted_where_a_variable_or_a_file_should_be_named) {
    EXPECT_THAT(problem_of(R"("env:base64:canary")"),
                HasSubstr("the environment variable (hidden) is not set"));
    EXPECT_THAT(problem_of(R"("file:base64:canary")"), HasSubstr("base64:(hidden)"));
}

TEST_F(secrets, come_from_the_configuration_the_environment_and_files) {
    ::setenv("POSTHORN_TEST_SECRET", std::string(second).c_str(), 1);
    write(
        fmt::format("# ours\n\n{} until=2026-03-01T00:00:00Z\n  {} from=2026-02-01T00:00:00Z "
                    "revoked\r\n",
                    first, second));
    const auto rings =
        load(fmt::format(R"(["{}", "env:POSTHORN_TEST_SECRET", "file:keys"])", first)).value();
    const auto& keys = rings.at("stock")->keys();
    ASSERT_EQ(keys.size(), 4U);
    EXPECT_EQ(keys[0].id, first_id);
    EXPECT_NE(keys[1].id, first_id);
    EXPECT_EQ(keys[2].id, first_id);
    EXPECT_EQ(keys[2].verifies_until, parse_iso8601("2026-03-01T00:00:00Z"));
    EXPECT_EQ(keys[3].signs_from, parse_iso8601("2026-02-01T00:00:00Z"));
    EXPECT_TRUE(keys[3].revoked);
    EXPECT_FALSE(keys[2].revoked);
}

TEST_F(secrets, take_their_dates_from_the_configuration_too) {
    const auto rings = load(fmt::format(R"({{ secret = "{}", from = "2026-02-01T00:00:00Z", )"
                                        R"(until = "2026-03-01T00:00:00Z", revoked = true }})",
                                        first))
                           .value();
    const auto& key = rings.at("stock")->keys().at(0);
    EXPECT_EQ(key.signs_from, parse_iso8601("2026-02-01T00:00:00Z"));
    EXPECT_EQ(key.verifies_until, parse_iso8601("2026-03-01T00:00:00Z"));
    EXPECT_TRUE(key.revoked);
}

TEST_F(secrets, say_which_line_names_one_that_is_missing) {
    ::unsetenv("POSTHORN_TEST_SECRET");
    EXPECT_THAT(problem_of(R"("env:POSTHORN_TEST_SECRET")"),
                StartsWith("p.toml:2: secrets.stock: the environment variable POSTHORN_TEST_SECRET "
                           "is not set; "));
    EXPECT_THAT(problem_of(R"("file:nowhere")"), HasSubstr("/nowhere cannot be read; "));
    EXPECT_THAT(problem_of(R"("file:.")"), HasSubstr("cannot be read; "));
}

TEST_F(secrets, quote_nothing_of_what_is_wrong) {
    ::setenv("POSTHORN_TEST_SECRET", "canary", 1);
    EXPECT_THAT(problem_of(R"("env:POSTHORN_TEST_SECRET")"), HasSubstr("POSTHORN_TEST_SECRET: "));
    write("# x\ncanary\n");
    EXPECT_THAT(problem_of(R"("file:keys")"), HasSubstr("/keys:2: "));
    write(fmt::format("{} canary\n", first));
    EXPECT_THAT(problem_of(R"("file:keys")"), HasSubstr("/keys:1: "));
    write(fmt::format("{} until=canary\n", first));
    EXPECT_THAT(problem_of(R"("file:keys")"), HasSubstr("/keys:1: "));
    write("base64:c2hvcnQ=\n");
    EXPECT_THAT(problem_of(R"("file:keys")"), HasSubstr("at least 16"));
    write("# nothing\n");
    EXPECT_THAT(problem_of(R"("file:keys")"), HasSubstr("holds no secret"));
}

TEST_F(secrets, are_refused_from_a_file_that_others_may_read) {
    for (const unsigned mode : {0640U, 0604U, 0620U, 0666U}) {
        write(first, mode);
        EXPECT_THAT(problem_of(R"("file:keys")"), HasSubstr("run chmod 600 ")) << mode;
    }
    write(first, 0400);
    EXPECT_TRUE(load(R"("file:keys")").has_value());
}

TEST_F(secrets, of_a_peer_on_an_older_scheme_are_nobody_elses) {
    const auto load_with = [&](std::string_view signatures) {
        return load_secrets(
            parse_config(fmt::format("[secrets]\ncrm = \"{}\"\nbank = [\"{}\", \"{}\"]\n{}", first,
                                     second, first, signatures),
                         "p.toml")
                .value());
    };
    EXPECT_TRUE(load_with("")) << "v2 names both sides";
    for (const auto* const signatures :
         {"[signatures]\ncrm = \"rf-hmac\"", "[signatures]\nbank = \"x-workflow\"",
          "[routes]\ncrm = { url = \"http://crm\", signature = \"rf-hmac\" }"}) {
        const auto loaded = load_with(signatures);
        ASSERT_FALSE(loaded) << signatures;
        EXPECT_THAT(loaded.error().what(), HasSubstr("give each a secret of its own"));
    }
}

TEST_F(secrets, carry_the_scheme_of_their_peer) {
    const auto rings = load_secrets(parse_config(fmt::format("[secrets]\na = \"{}\"\nb = \"{}\"\n"
                                                             "[signatures]\nb = \"x-workflow\"",
                                                             first, second),
                                                 "p.toml")
                                        .value())
                           .value();
    EXPECT_EQ(rings.at("a")->scheme(), signature_scheme::v2);
    EXPECT_EQ(rings.at("b")->scheme(), signature_scheme::x_workflow);
}

TEST_F(secrets, schemes_that_contradict_each_other_are_refused) {
    const auto read = parse_config(
        "[routes]\ncrm = { url = \"http://crm\", signature = \"v2\" }\n[signatures]\ncrm = "
        "\"rf-hmac\"",
        "p.toml");
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().what(), StartsWith("p.toml:4: signatures.crm is not what"));
}

}  // namespace
}  // namespace posthorn
