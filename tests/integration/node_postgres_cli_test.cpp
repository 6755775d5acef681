// Commands on a store that is on a server.
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

}  // namespace
}  // namespace posthorn::integration
