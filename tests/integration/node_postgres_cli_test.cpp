// Commands on a store that is on a server.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/postgres/postgres_server.hpp"
#include "support/process.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn::integration {
namespace {

using testing::HasSubstr;

class commands_on_postgres : public testing::Test {
protected:
    [[nodiscard]] test::process_result run(std::vector<std::string> words) const {
        words.insert(words.begin(), POSTHORN_PROGRAM);
        for (const auto& more : {std::string("--database"), test::postgres_url(),
                                 std::string("--schema"), place_.schema()})
            words.push_back(more);
        return test::run_process(words);
    }
    [[nodiscard]] std::size_t tables() const {
        return test::postgres_client(test::postgres_url())
            .rows("SELECT 1 FROM pg_tables WHERE schemaname = '" + place_.schema() + "'")
            .size();
    }

    test::temporary_directory folder_;
    test::postgres_place place_;
};

TEST_F(commands_on_postgres, make_no_tables_in_order_to_look_and_say_who_does) {
    const std::vector<std::vector<std::string>> all{
        {"stats"}, {"outbox", "list"}, {"dead", "list"}, {"inbox", "list"}};
    for (const auto& words : all) {
        const auto told = run(words);
        EXPECT_EQ(told.end.exit_code, 1) << words.front();
        EXPECT_THAT(told.err, HasSubstr("posthorn init")) << words.front();
    }
    EXPECT_EQ(tables(), 0U);
    const auto config = folder_.file("orders.toml");
    std::ofstream(config) << "[service]\nid = \"orders\"\n[store]\nurl = \"" << test::postgres_url()
                          << "\"\nschema = \"" << place_.schema() << "\"\n";
    const auto made = test::run_process({POSTHORN_PROGRAM, "init", "--config", config});
    ASSERT_EQ(made.end.exit_code, 0) << made.err;
    EXPECT_THAT(made.out, HasSubstr("made  postgresql://"));
    const auto again = test::run_process({POSTHORN_PROGRAM, "init", "--config", config});
    EXPECT_THAT(again.out, HasSubstr("was there: postgresql://"));
    for (const auto& words : all) EXPECT_EQ(run(words).end.exit_code, 0) << words.front();
}

TEST_F(commands_on_postgres, start_from_nothing_with_a_schema_of_their_own) {
    const auto config = folder_.file("new.toml");
    const auto init = [&](const std::string& url) {
        return test::run_process({POSTHORN_PROGRAM, "init", "--config", config, "--service",
                                  "orders", "--database", url, "--schema", place_.schema()});
    };
    const auto mistaken = init("postgresql://nobody@127.0.0.1:1/x");
    EXPECT_EQ(mistaken.end.exit_code, 1);
    EXPECT_FALSE(std::filesystem::exists(config)) << "or the next try would take it for granted";
    const auto made = init(test::postgres_url());
    ASSERT_EQ(made.end.exit_code, 0) << made.err;
    EXPECT_EQ(run({"stats"}).end.exit_code, 0);
    EXPECT_EQ(init(test::postgres_url()).end.exit_code, 0);
    const auto other =
        test::run_process({POSTHORN_PROGRAM, "init", "--config", config, "--schema", "another"});
    EXPECT_EQ(other.end.exit_code, 2);
    EXPECT_THAT(other.err, HasSubstr("store.schema = \"" + place_.schema() + "\""));
}

}  // namespace
}  // namespace posthorn::integration
