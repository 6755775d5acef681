// Bytes of databases, logs and backups that change while nobody looks.
#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash/corruption_case.hpp"
#include "support/proof_run.hpp"
#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn::crash {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t page_size = 4096;

std::string read_whole(const std::string& file) {
    std::ifstream from(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(from), {}};
}

/// One change of a file, drawn from a seed.
struct damage {
    std::string file;  // Its name in the folder.
    std::string what;  // In words.
    std::vector<std::size_t> pages{};
};

class damager {
public:
    explicit damager(std::uint64_t seed) : dice_(seed) {}

    damage strike(const std::string& folder) {
        static constexpr std::array files{"source.db",     "source.db-wal",    "target.db",
                                          "target.db-wal", "source-backup.db", "target-backup.db"};
        damage done{.file = files.at(draw(0, files.size() - 1)), .what = {}};
        const auto path = folder + "/" + done.file;
        auto bytes = read_whole(path);
        const auto at = draw(0, bytes.size() - 1);
        const auto page = at / page_size;
        done.pages = {page};
        switch (draw(0, 6)) {
            case 0:
            case 1: {
                const auto bit = draw(0, 7);
                bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
                done.what = fmt::format("bit {} of byte {} flipped", bit, at);
                break;
            }
            case 2:
                for (auto i = at; i < std::min(bytes.size(), at + draw(2, 64)); ++i)
                    bytes[i] = static_cast<char>(draw(0, 255));
                done.what = fmt::format("some bytes from {} on overwritten", at);
                done.pages.push_back(page + 1);
                break;
            case 3:
                fill(bytes, page * page_size, page_size, '\0');
                done.what = fmt::format("page {} zeroed", page);
                break;
            case 4: {
                const auto sector = at / 512 * 512;
                fill(bytes, sector, 512, '\0');
                done.what = fmt::format("512 bytes from {} on zeroed", sector);
                break;
            }
            case 5: {
                const auto other = draw(0, bytes.size() - 1) / page_size;
                swap(bytes, page * page_size, other * page_size);
                done.what = fmt::format("pages {} and {} swapped", page, other);
                done.pages.push_back(other);
                break;
            }
            default:
                bytes.resize(draw(0, 1) == 0 ? at : page * page_size);
                done.what = fmt::format("cut after {} bytes", bytes.size());
                for (auto i = page; i <= page + 1000; ++i) done.pages.push_back(i);
        }
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
        return done;
    }

private:
    std::size_t draw(std::size_t from, std::size_t to) {
        return std::uniform_int_distribution<std::size_t>(from, to)(dice_);
    }
    static void fill(std::string& in, std::size_t from, std::size_t count, char with) {
        count = std::min(count, in.size() - from);
        in.replace(from, count, count, with);
    }
    static void swap(std::string& in, std::size_t one, std::size_t other) {
        for (std::size_t i = 0; i < page_size; ++i)
            if (one + i < in.size() && other + i < in.size()) std::swap(in[one + i], in[other + i]);
    }

    std::mt19937_64 dice_;
};

/// A pair with something damaged, in a process of its own, so that one that crashes is seen to.
class damaged_case {
public:
    damaged_case(const std::string& folder, const held& before, damage done, damaged_place where)
        : done_(std::move(done)), where_(std::move(where)) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        child_ = ::fork();
        if (child_ == 0) {
            const auto made = judge_damage(folder, before, where_);
            const auto text = made.kind + "\n" + made.faults;
            if (::write(ends[1], text.data(), text.size()) < 0) ::_exit(2);
            ::_exit(0);
        }
        ::close(ends[1]);
        from_ = ends[0];
    }
    verdict end() {
        auto made = collect();
        if (!made.faults.empty())
            made.faults = fmt::format("{}: {}\n{}", done_.file, done_.what, made.faults);
        made.kind = (where_.in_log      ? "log "
                     : where_.in_backup ? "backup "
                                        : "database ") +
                    made.kind;
        return made;
    }

private:
    verdict collect() {
        std::string text;
        constexpr int patience_ms = 60'000;
        bool late = false;
        for (char chunk[4096];;) {
            pollfd waiting{from_, POLLIN, 0};
            late = ::poll(&waiting, 1, patience_ms) == 0;
            const auto count = late ? 0 : ::read(from_, chunk, sizeof(chunk));
            if (count <= 0) break;
            text.append(chunk, static_cast<std::size_t>(count));
        }
        ::close(from_);
        if (late) ::kill(child_, SIGKILL);
        int status = 0;
        ::waitpid(child_, &status, 0);
        if (late) return {"hang", "it hangs\n"};
        if (WIFSIGNALED(status))
            return {"crash", fmt::format("it was ended by signal {}\n{}", WTERMSIG(status), text)};
        const auto end = text.find('\n');
        return {text.substr(0, end), text.substr(end + 1)};
    }

    damage done_;
    damaged_place where_;
    pid_t child_ = -1;
    int from_ = -1;
};

/// Pairs to be damaged: one is made, and copied for each case.
class damaged_pairs {
public:
    damaged_case begin(std::uint64_t seed, std::size_t place) {
        const auto folder = place_.file("case" + std::to_string(place));
        fs::remove_all(folder);
        fs::copy(template_, folder);
        const auto done = damager(seed).strike(folder);
        return {folder,
                before_,
                done,
                {.service = done.file.substr(0, 6),
                 .in_log = done.file.contains("wal"),
                 .in_backup = done.file.contains("backup"),
                 .in_own_rows = is_among_own_rows(done)}};
    }

private:
    [[nodiscard]] bool is_among_own_rows(const damage& done) {
        if (done.file.contains("wal") || done.file.starts_with("source")) return false;
        const auto copy = place_.file("stat");
        fs::remove_all(copy);
        fs::create_directory(copy);
        fs::copy_file(template_ + "/" + done.file, copy + "/a.db");
        test::sqlite_file file(copy + "/a.db");
        for (const auto page : done.pages)
            if (file.integer("SELECT count(*) FROM dbstat WHERE name = 'effects' AND pageno = " +
                             std::to_string(page + 1)) > 0)
                return true;
        return false;
    }
    test::temporary_directory place_;
    std::string template_ = place_.file("template");
    held before_ = make_killed_pair(template_);
};

TEST(corruption, is_detected_quarantined_harmless_or_in_a_log_a_step_back) {
    test::proof_run run("corruption", {.rounds = 200});
    damaged_pairs pairs;
    for (std::uint64_t at_once = 10; run.goes_on() && !HasFailure(); run.advance(at_once)) {
        at_once = std::min(at_once, std::max<std::uint64_t>(run.rounds() - run.done(), 1));
        std::vector<damaged_case> cases;
        for (std::uint64_t i = 0; i < at_once; ++i) cases.push_back(pairs.begin(run.seed() + i, i));
        for (std::uint64_t i = 0; i < at_once; ++i) {
            const auto made = cases[i].end();
            run.count(made.kind);
            EXPECT_EQ(made.faults, "")
                << "again: POSTHORN_PROOF_ROUNDS=1 POSTHORN_PROOF_SEED=" << run.seed() + i
                << " " POSTHORN_TESTS " --gtest_filter=corruption.*";
        }
    }
}

}  // namespace
}  // namespace posthorn::crash
