#include "transport/pipe/pipe_path.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(pipe_path, is_where_programs_of_dotnet_look) {
    EXPECT_EQ(pipe_path("rf-email", "/tmp").value(), "/tmp/CoreFxPipe_rf-email");
    EXPECT_EQ(pipe_path("rf-email", "/var/tmp//").value(), "/var/tmp/CoreFxPipe_rf-email");
    EXPECT_EQ(pipe_path("a", "/").value(), "/CoreFxPipe_a");
}

TEST(pipe_path, is_in_the_folder_for_temporary_files) {
    const char* const before = std::getenv("TMPDIR");
    const std::string kept = before != nullptr ? before : "";
    ::setenv("TMPDIR", "/srv/tmp", 1);
    EXPECT_EQ(pipe_path("a").value(), "/srv/tmp/CoreFxPipe_a");
    ::setenv("TMPDIR", "", 1);
    EXPECT_EQ(pipe_path("a").value(), "/tmp/CoreFxPipe_a");
    ::unsetenv("TMPDIR");
    EXPECT_EQ(pipe_path("a").value(), "/tmp/CoreFxPipe_a");
    if (before != nullptr) ::setenv("TMPDIR", kept.c_str(), 1);
}

TEST(pipe_path, refuses_a_name_that_could_lead_elsewhere) {
    using std::string_view_literals::operator""sv;
    for (const auto name :
         {""sv, "a/b"sv, "../a"sv, "/etc/x"sv, "a\\b"sv, "a b"sv, "a\0b"sv, "stöck"sv, "a\n"sv}) {
        const auto path = pipe_path(name, "/tmp");
        ASSERT_FALSE(path) << name;
        EXPECT_EQ(path.error().code(), error_code::invalid_argument);
    }
}

}  // namespace
}  // namespace posthorn
