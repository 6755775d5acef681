#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.hpp"
#include "support/process.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn {
namespace {

using testing::HasSubstr;

TEST(bench, measures_two_services_over_each_transport_and_cleans_up) {
    for (const std::string transport : {"inprocess", "unix", "http"}) {
        SCOPED_TRACE(transport);
        const test::temporary_directory folder;
        const auto shown =
            test::run_process({POSTHORN_PROGRAM, "bench", "--seconds", "0.3", "--senders", "4",
                               "--transport", transport, "--folder", folder.path(), "--json"});
        EXPECT_EQ(shown.end, (test::process_end{0, 0})) << shown.err;
        EXPECT_THAT(shown.out, HasSubstr("\"transport\":\"" + transport + "\""));
        EXPECT_THAT(shown.out, testing::Not(HasSubstr("\"messages\":0,")));
        EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "it cleans up";
    }
}

TEST(bench, cleans_up_when_it_is_interrupted) {
    const test::temporary_directory folder;
    test::process child({POSTHORN_PROGRAM, "bench", "--seconds", "600", "--senders", "2",
                         "--folder", folder.path()});
    ASSERT_TRUE(test::eventually([&] { return !std::filesystem::is_empty(folder.path()); }));
    child.send_signal(SIGINT);
    EXPECT_EQ(child.wait(std::chrono::seconds(60)), (test::process_end{1, 0})) << child.err();
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace posthorn
