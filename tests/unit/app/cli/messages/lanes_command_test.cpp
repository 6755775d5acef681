#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"
#include "unit/app/cli/run.hpp"

namespace posthorn::cli {
namespace {

using testing::HasSubstr;

class lanes_commands : public testing::Test {
protected:
    void SetUp() override {
        const auto made = run({"init", "--config", config_, "--service", "orders"});
        ASSERT_EQ(made.code, exit_code::ok) << made.err;
    }
    printed outbox(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "outbox");
        arguments.insert(arguments.end(), {"--config", config_});
        return run(arguments);
    }

    test::temporary_directory folder_;
    std::string config_ = folder_.file("orders.toml");
};

TEST_F(lanes_commands, pause_and_resume_on_the_file_and_show_it) {
    EXPECT_EQ(outbox({"lanes"}).out, "none\n");
    EXPECT_EQ(outbox({"pause", "stock", "--reason", "stocktaking"}).out, "stock is paused\n");
    EXPECT_EQ(outbox({"pause", "stock"}).out, "stock was paused already\n");
    const auto shown = outbox({"lanes"});
    EXPECT_EQ(shown.code, exit_code::ok);
    EXPECT_THAT(shown.out, HasSubstr("stock        paused"));
    EXPECT_THAT(shown.out, HasSubstr("stocktaking"));
    const auto rows = boost::json::parse(outbox({"lanes", "--json"}).out).at("lanes").as_array();
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].at("state").as_string(), "paused");
    EXPECT_EQ(outbox({"resume", "stock"}).out, "stock goes on\n");
    EXPECT_EQ(outbox({"resume", "stock"}).out, "stock was not paused\n");
    EXPECT_EQ(outbox({"lanes"}).out, "none\n");
}

TEST_F(lanes_commands, take_a_destination_that_is_a_url) {
    const std::string url = "https://stock.example:7400/a?b&c";
    EXPECT_EQ(outbox({"pause", url}).out, url + " is paused\n");
    EXPECT_THAT(outbox({"lanes"}).out, HasSubstr("https://stock.example"));
    EXPECT_EQ(outbox({"resume", url}).out, url + " goes on\n");
    EXPECT_EQ(outbox({"resume", url}).out, url + " was not paused\n");
}

TEST_F(lanes_commands, refuse_a_pause_without_a_destination) {
    EXPECT_EQ(outbox({"pause"}).code, exit_code::usage);
    EXPECT_EQ(outbox({"pause", ""}).code, exit_code::usage);
}

}  // namespace
}  // namespace posthorn::cli
