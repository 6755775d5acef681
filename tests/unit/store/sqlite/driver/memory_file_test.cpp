#include "store/sqlite/driver/memory_file.hpp"

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

namespace posthorn::sqlite {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<memory_file> make() {
    auto made = memory_file::make();
    EXPECT_TRUE(made.has_value()) << made.error().what();
    return made ? *std::move(made) : nullptr;
}

TEST(memory_file, lies_in_a_folder_that_others_cannot_read) {
    const auto file = make();
    const auto mode = fs::status(fs::path(file->path()).parent_path()).permissions();
    EXPECT_EQ(mode & fs::perms::all, fs::perms::owner_all);
}

TEST(memory_file, goes_away_with_all_that_lies_beside_it) {
    auto file = make();
    const auto folder = fs::path(file->path()).parent_path();
    std::ofstream(file->path()) << "x";
    std::ofstream(file->path() + "-wal") << "x";
    file.reset();
    EXPECT_FALSE(fs::exists(folder));
}

TEST(memory_file, leaves_alone_what_is_in_use) {
    const auto one = make();
    std::ofstream(one->path()) << "x";
    const auto other = make();
    EXPECT_NE(one->path(), other->path());
    EXPECT_TRUE(fs::exists(one->path()));
}

TEST(memory_file, removes_what_a_killed_process_left_behind) {
    const auto place = fs::path(make()->path()).parent_path().parent_path();
    std::string abandoned = place / "posthorn-memory-XXXXXX";
    ASSERT_NE(::mkdtemp(abandoned.data()), nullptr);
    std::ofstream(fs::path(abandoned) / "memory.db") << "x";
    const auto lock = fs::path(abandoned) / "in-use";
    const int held = ::open(lock.c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_EQ(::flock(held, LOCK_EX), 0);
    make();
    EXPECT_TRUE(fs::exists(abandoned));
    ::close(held);
    make();
    EXPECT_FALSE(fs::exists(abandoned));
}

}  // namespace
}  // namespace posthorn::sqlite
