#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace posthorn::crash {

/// The folder of one world of a harness. It stays if the test has failed by then, and whoever reads
/// of that is told how to play the world again.
class proof_folder {
public:
    struct replay {
        std::uint64_t seed = 1;
        std::uint64_t rounds = 1;
    };

    explicit proof_folder(replay with) : replay_(with) {
        std::string name = (std::filesystem::temp_directory_path() / "posthorn-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
        path_ = name;
    }
    ~proof_folder() {
        std::error_code ignored;
        if (!testing::Test::HasFailure())
            std::filesystem::remove_all(path_, ignored);
        else
            std::cerr << "replay: " << command() << "\nkept: " << path_.string() << std::endl;
    }
    proof_folder(const proof_folder&) = delete;
    proof_folder& operator=(const proof_folder&) = delete;

    [[nodiscard]] std::string path() const { return path_.string(); }
    [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }

private:
    [[nodiscard]] std::string command() const {
        const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
        return "POSTHORN_PROOF_SEED=" + std::to_string(replay_.seed) +
               " POSTHORN_PROOF_ROUNDS=" + std::to_string(replay_.rounds) + " " +
               std::filesystem::read_symlink("/proc/self/exe").string() +
               " --gtest_filter=" + test->test_suite_name() + "." + test->name();
    }

    replay replay_;
    std::filesystem::path path_;
};

}  // namespace posthorn::crash
