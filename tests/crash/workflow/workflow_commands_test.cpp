// What operators do to a workflow that runs in another process, on its database file.
#include <csignal>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.hpp"
#include "support/process.hpp"
#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn {
namespace {

using ::testing::HasSubstr;

constexpr test::process_end exit_0{0, 0};

class workflow_commands : public testing::Test {
protected:
    workflow_commands() { EXPECT_TRUE(has_said("ready")) << shop.err(); }

    bool has_said(const std::string& what) {
        for (;;) {
            const auto line = shop.read_line();
            if (!line) return false;
            if (*line == what) return true;
        }
    }
    /// What `posthorn workflow …` prints.
    std::string workflow(std::vector<std::string> words) {
        words.insert(words.begin(), {POSTHORN_PROGRAM, "workflow"});
        words.insert(words.end(), {"--database", directory.file("shop.db")});
        const auto ran = test::run_process(words);
        EXPECT_EQ(ran.end, exit_0) << ran.err;
        return ran.out;
    }
    std::string status() {
        return test::sqlite_file(directory.file("shop.db"))
            .text("SELECT status FROM workflow_instances");
    }
    bool becomes(const std::string& what) {
        return test::eventually([&] { return status() == what; });
    }

    test::temporary_directory directory;
    test::process shop{{POSTHORN_SHOP, directory.path(), "serve"}};
};

TEST_F(workflow_commands, show_pause_signal_and_resume_it) {
    ASSERT_TRUE(test::eventually(
        [&] { return workflow({"show", "Approve", "s1"}).contains("Decided where orderId"); }));
    EXPECT_THAT(workflow({"list", "--status", "running"}), HasSubstr("Approve"));
    workflow({"pause", "Approve", "s1"});
    EXPECT_EQ(status(), "paused");
    workflow({"signal", "Approve", "s1", "--name", "Decided", "--payload",
              R"({"orderId":"s1","approved":true})"});
    ASSERT_TRUE(test::eventually([&] {
        return test::sqlite_file(directory.file("shop.db"))
                   .integer("SELECT count(*) FROM workflow_mailbox WHERE kind = 'signalled'") == 1;
    }));
    EXPECT_EQ(status(), "paused");
    workflow({"resume", "Approve", "s1"});
    ASSERT_TRUE(becomes("completed")) << shop.err();
    EXPECT_THAT(workflow({"history", "Approve", "s1"}), HasSubstr("call billing/v1/Charge"));
    const auto before = workflow({"show", "Approve", "s1", "--at", "2", "--json"});
    EXPECT_THAT(before, HasSubstr("waiting"));
    shop.send_signal(SIGTERM);
    EXPECT_EQ(shop.wait(), exit_0);
}

TEST_F(workflow_commands, cancel_it_and_what_was_called_is_undone) {
    ASSERT_TRUE(has_said("reserve s1"));
    workflow({"cancel", "Approve", "s1", "--reason", "ordered twice"});
    ASSERT_TRUE(has_said("release s1"));
    ASSERT_TRUE(becomes("cancelled"));
    EXPECT_THAT(workflow({"show", "Approve", "s1"}), HasSubstr("ordered twice"));
    shop.send_signal(SIGTERM);
    EXPECT_EQ(shop.wait(), exit_0);
}

}  // namespace
}  // namespace posthorn
