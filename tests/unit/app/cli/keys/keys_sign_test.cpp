#include <filesystem>
#include <fstream>
#include <string>

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "security/ed25519.hpp"
#include "support/temporary_directory.hpp"
#include "unit/app/cli/run.hpp"
#include "unit/workflow/binary/elf_builder.hpp"

namespace posthorn::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class keys_sign : public testing::Test {
protected:
    void SetUp() override {
        const auto made = run({"keys", "publisher", "--out", key_, "--json"});
        ASSERT_EQ(made.code, exit_code::ok) << made.err;
        public_ = std::string(boost::json::parse(made.out).at("publicKey").as_string());
        write(test::binary_of_workflows().build());
    }
    void write(const std::string& bytes) const { std::ofstream(file_, std::ios::binary) << bytes; }
    [[nodiscard]] static std::string text_of(const std::string& file) {
        std::ifstream opened(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(opened), {}};
    }

    test::temporary_directory folder_;
    std::string key_ = folder_.file("publisher.key");
    std::string file_ = folder_.file("orders.flows");
    std::string public_;
};

TEST_F(keys_sign, signs_what_an_engine_with_the_public_half_takes) {
    const auto signed_one = run({"keys", "sign", file_, "--key", key_});
    ASSERT_EQ(signed_one.code, exit_code::ok) << signed_one.err;
    EXPECT_THAT(signed_one.out, HasSubstr("workflow ApproveOrder version 1"));
    EXPECT_THAT(signed_one.out, HasSubstr("calls billing/v1"));
    const auto key = parse_ed25519_public(public_, publisher_key_prefix);
    ASSERT_TRUE(key);
    const publisher known{"ann", *key};
    const auto file = text_of(file_);
    EXPECT_TRUE(inspect_binary(test::bytes_of(file), {&known, 1}, machine_kind::x86_64));
    // Once more is the same.
    ASSERT_EQ(run({"keys", "sign", file_, "--key", key_}).code, exit_code::ok);
    EXPECT_EQ(text_of(file_), file);
}

TEST_F(keys_sign, writes_to_another_file_and_prints_json) {
    const auto before = text_of(file_);
    const auto out = folder_.file("signed.flows");
    const auto made = run({"keys", "sign", file_, "--key", key_, "--out", out, "--json"});
    ASSERT_EQ(made.code, exit_code::ok) << made.err;
    const auto told = boost::json::parse(made.out);
    EXPECT_EQ(told.at("name"), "orders");
    EXPECT_EQ(told.at("publicKey").as_string(), public_);
    EXPECT_EQ(told.at("workflows").at(0).at("name"), "ApproveOrder");
    EXPECT_EQ(text_of(file_), before);
    EXPECT_THAT(text_of(out), StartsWith(before));
}

TEST_F(keys_sign, signs_nothing_that_would_be_refused) {
    auto made = test::binary_of_workflows();
    made.imports.push_back("fork");
    write(made.build());
    const auto forks = run({"keys", "sign", file_, "--key", key_});
    EXPECT_EQ(forks.code, exit_code::usage);
    EXPECT_THAT(forks.err, HasSubstr("forbidden_import"));
    write("#!/bin/sh\n");
    EXPECT_THAT(run({"keys", "sign", file_, "--key", key_}).err, HasSubstr("not_elf"));
    EXPECT_EQ(text_of(file_), "#!/bin/sh\n");
}

TEST_F(keys_sign, takes_a_publishers_secret_and_no_other) {
    const auto stranger = folder_.file("stock.keys");
    ASSERT_EQ(run({"keys", "new", "--out", stranger}).code, exit_code::ok);
    const auto refused = run({"keys", "sign", file_, "--key", stranger});
    EXPECT_EQ(refused.code, exit_code::usage);
    EXPECT_THAT(refused.err, HasSubstr("phsec_"));
}

TEST_F(keys_sign, keeps_the_secret_half_for_its_owner) {
    EXPECT_EQ(fs::status(key_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_THAT(text_of(key_), StartsWith("phsec_"));
    EXPECT_THAT(run({"keys", "publisher", "--out", key_}).err, HasSubstr("is there already"));
    const auto other = run({"keys", "publisher", "--out", folder_.file("other.key")});
    EXPECT_THAT(other.out, HasSubstr("phpub_"));
    EXPECT_THAT(other.out, Not(HasSubstr("phsec_")));
}

}  // namespace
}  // namespace posthorn::cli
