#include <filesystem>
#include <fstream>

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "security/digest.hpp"
#include "security/hex.hpp"
#include "security/ring_file.hpp"
#include "support/temporary_directory.hpp"
#include "unit/app/cli/run.hpp"

namespace posthorn::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string text_of(const std::string& file) {
    std::ifstream opened(file);
    return {std::istreambuf_iterator<char>(opened), {}};
}

class keys_command : public testing::Test {
protected:
    test::temporary_directory folder_;
    std::string file_ = folder_.file("stock.keys");
};

TEST_F(keys_command, prints_a_key_that_a_ring_file_takes) {
    const auto made = run({"keys", "new"});
    EXPECT_EQ(made.code, exit_code::ok);
    const auto ring = ring_file::parse(made.out, "out");
    ASSERT_TRUE(ring);
    ASSERT_EQ(ring->keys().size(), 1u);
    EXPECT_EQ(ring->keys()[0].value.reveal().size(), 32u);
    EXPECT_THAT(made.out, StartsWith("# id " + ring->keys()[0].id));
    EXPECT_NE(run({"keys", "new"}).out, made.out);
}

TEST_F(keys_command, writes_a_key_for_its_owner_alone_and_never_over_another) {
    const auto made = run({"keys", "new", "--out", file_, "--json"});
    EXPECT_EQ(made.code, exit_code::ok);
    EXPECT_THAT(made.out, Not(HasSubstr("base64")));
    EXPECT_EQ(fs::status(file_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    const auto before = text_of(file_);
    const auto again = run({"keys", "new", "--out", file_});
    EXPECT_EQ(again.code, exit_code::usage);
    EXPECT_THAT(again.err, HasSubstr("is there already and stays as it is"));
    EXPECT_EQ(text_of(file_), before);
}

TEST_F(keys_command, rotates_in_place_with_the_files_mode) {
    ASSERT_EQ(run({"keys", "new", "--out", file_}).code, exit_code::ok);
    fs::permissions(file_, fs::perms::owner_read | fs::perms::group_read);
    const auto turned = run({"keys", "rotate", file_, "--after", "2h", "--json"});
    ASSERT_EQ(turned.code, exit_code::ok) << turned.err;
    const auto keys = boost::json::parse(turned.out).as_array();
    ASSERT_EQ(keys.size(), 2u);
    EXPECT_EQ(keys[0].at("state"), "verifies");
    EXPECT_EQ(keys[1].at("state"), "signs");
    EXPECT_TRUE(keys[1].at("until").is_string());
    EXPECT_EQ(fs::status(file_).permissions(), fs::perms::owner_read | fs::perms::group_read);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1) << "nothing is left";
}

TEST_F(keys_command, refuses_a_duration_that_is_none_and_leaves_the_file) {
    ASSERT_EQ(run({"keys", "new", "--out", file_}).code, exit_code::ok);
    const auto before = text_of(file_);
    const auto refused = run({"keys", "rotate", file_, "--overlap", "soon"});
    EXPECT_EQ(refused.code, exit_code::usage);
    EXPECT_THAT(refused.err, HasSubstr("--overlap cannot be 'soon'; write a duration"));
    EXPECT_EQ(text_of(file_), before);
}

TEST_F(keys_command, revokes_and_says_when_nothing_signs_any_more) {
    const auto made = run({"keys", "new", "--out", file_, "--json"});
    const std::string id(boost::json::parse(made.out).at("id").as_string());
    const auto ended = run({"keys", "revoke", file_, id});
    EXPECT_EQ(ended.code, exit_code::ok);
    EXPECT_THAT(ended.out, HasSubstr("no key is left that signs"));
    EXPECT_THAT(run({"keys", "list", file_}).out, HasSubstr(id + "  revoked"));
    EXPECT_EQ(run({"keys", "revoke", file_, "0000"}).code, exit_code::failed);
}

TEST_F(keys_command, lists_without_the_secrets_from_files_and_from_a_configuration) {
    ASSERT_EQ(run({"keys", "new", "--out", file_}).code, exit_code::ok);
    const auto config = folder_.file("orders.toml");
    std::ofstream(config) << "[secrets]\nstock = \"file:stock.keys\"\n";
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"keys", "list", file_}, {"keys", "list", "--config", config}}) {
        const auto listed = run(arguments);
        EXPECT_EQ(listed.code, exit_code::ok) << listed.err;
        EXPECT_THAT(listed.out, StartsWith("PEER   KEY               STATE\nstock  "));
        EXPECT_THAT(listed.out, Not(HasSubstr("base64")));
    }
    EXPECT_THAT(run({"config", "show", "--config", config}).out, HasSubstr("file:stock.keys"));
    EXPECT_EQ(run({"keys", "list"}).code, exit_code::usage);
}

TEST_F(keys_command, makes_admin_keys_whose_hash_the_configuration_takes) {
    const auto made = run(
        {"keys", "admin", "new", "--role", "operator", "--name", "desk", "--payloads", "--json"});
    ASSERT_EQ(made.code, exit_code::ok);
    const auto shown = boost::json::parse(made.out);
    const std::string key(shown.at("key").as_string());
    EXPECT_THAT(key, testing::MatchesRegex("phk_[A-Za-z0-9_-]{43}"));
    EXPECT_EQ(shown.at("hash").as_string(), "sha256:" + to_hex(sha256_of({key})));

    EXPECT_EQ(shown.at("secrets"), false);
    EXPECT_TRUE(parse_iso8601(shown.at("made").as_string()));

    const auto text = run({"keys", "admin", "new", "--name", "desk", "--secrets"}).out;
    EXPECT_THAT(text, HasSubstr("secrets = true"));
    const auto config = folder_.file("orders.toml");
    std::ofstream(config) << text.substr(text.find("[[admin.keys]]"));
    EXPECT_EQ(run({"config", "show", "--config", config}).err, "");
    EXPECT_EQ(run({"keys", "admin", "new", "--role", "king"}).code, exit_code::usage);
    EXPECT_EQ(run({"keys", "admin", "new", "--name", "a\"b"}).code, exit_code::usage);
}

}  // namespace
}  // namespace posthorn::cli
