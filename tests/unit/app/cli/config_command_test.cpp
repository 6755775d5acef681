#include <fstream>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"
#include "unit/app/cli/run.hpp"

namespace posthorn::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class config_command : public testing::Test {
protected:
    void write(std::string_view text) const { std::ofstream(path_) << text; }
    [[nodiscard]] std::string show() const { return run({"config", "show", "-c", path_}).out; }

    test::temporary_directory folder_;
    std::string path_ = folder_.file("p.toml");
};

TEST_F(config_command, shows_every_value_and_where_it_came_from) {
    write("[service]\ndefaults = \"webhooks\"\n[outbox]\nbatch_size = 7\n");
    const auto shown = show();
    EXPECT_THAT(shown, ContainsRegex("outbox.batch_size +7 +[^ ]*p.toml:4"));
    EXPECT_THAT(shown, ContainsRegex("outbox.retry_delay_base +5s +defaults \"webhooks\""));
    EXPECT_THAT(shown, ContainsRegex("outbox.message_ttl +1d +default\n"));
}

TEST_F(config_command, says_below_what_was_raised_or_is_weak) {
    write("[store]\nurl = \"memory:\"\n");
    const auto shown = show();
    EXPECT_THAT(shown, HasSubstr("\ninbox.retention: the 24h of \"messaging\" are raised to 48h"));
    EXPECT_THAT(shown, HasSubstr("\nstore.url: not durable"));
    write("[service]\ndefaults = \"integration-events\"\n");
    EXPECT_THAT(show(), Not(HasSubstr("raised")));
}

TEST_F(config_command, shows_the_same_as_json) {
    write("[service]\ndefaults = \"workflow\"\n");
    const auto entries = boost::json::parse(run({"config", "show", "--json", "-c", path_}).out);
    bool found = false;
    for (const auto& each : entries.as_array()) {
        EXPECT_TRUE(each.at("note").is_string());
        if (each.at("key") != "outbox.poll_interval") continue;
        found = true;
        EXPECT_EQ(each.at("value"), "30s");
        EXPECT_EQ(each.at("origin"), "defaults \"workflow\"");
    }
    EXPECT_TRUE(found);
}

TEST_F(config_command, a_command_on_a_file_says_that_a_store_in_memory_has_none) {
    write("[store]\nurl = \"memory:\"\n");
    const auto refused = run({"stats", "-c", path_});
    EXPECT_EQ(refused.code, exit_code::usage);
    EXPECT_THAT(refused.err, HasSubstr("is in memory"));
    EXPECT_THAT(refused.err, HasSubstr("--url"));
}

TEST_F(config_command, the_doctor_says_that_a_store_in_memory_is_not_durable) {
    write("[store]\nurl = \"memory:\"\n");
    const auto found = run({"doctor", "-c", path_});
    EXPECT_EQ(found.code, exit_code::failed);
    EXPECT_THAT(found.out, HasSubstr("in memory and NOT DURABLE"));
}

}  // namespace
}  // namespace posthorn::cli
