#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "crash/proof_folder.hpp"
#include "support/process.hpp"
#include "support/sqlite_file.hpp"

namespace posthorn::crash {

/// A source and a target as real processes, with the network between them that the seed draws: a
/// Unix socket or HTTP.
///
/// Lifetime: one world of a harness; what still runs in the end is killed.
/// Threads:  one.
class services {
public:
    using process = test::process;
    using database = test::sqlite_file;
    using words = std::vector<std::string>;

    explicit services(proof_folder::replay with);

    /// A number from 0 to below `end`.
    [[nodiscard]] int draw(int end) {
        return std::uniform_int_distribution<int>(0, end - 1)(dice_);
    }

    // Processes, by name. `target` is the target; every other name is a source's.

    void start(const std::string& name, const words& with = {});
    /// A writer with plain SQL on the database of `source` or `target`.
    void start_writer(const std::string& name, const std::string& service, int pause_ms);
    /// Whether it has said so, or does in time; otherwise the test has failed.
    bool await_line(const std::string& name, const std::string& line);
    [[nodiscard]] process& at(const std::string& name) { return *processes_.at(name); }
    [[nodiscard]] bool has(const std::string& name) const { return processes_.contains(name); }
    void kill(const std::vector<std::string>& names);
    /// With SIGTERM, and in order.
    void stop(const std::string& name);

    // What they have come to.

    [[nodiscard]] database open(const std::string& service) const {
        return database(folder_.file(service + ".db"));
    }
    [[nodiscard]] std::int64_t source(const std::string& sql) const {
        return open("source").integer(sql);
    }
    [[nodiscard]] std::int64_t target(const std::string& sql) const {
        return open("target").integer(sql);
    }
    [[nodiscard]] std::int64_t effects() const { return target("SELECT count(*) FROM effects"); }
    /// The highest number that anybody was told is committed, by the promises of these names.
    [[nodiscard]] std::int64_t promised(const std::vector<std::string>& names) const;
    /// Whether it has grown by so many in time; otherwise the test has failed.
    bool await_effects(std::int64_t more);
    /// Nothing is pending any more, in a bounded time from now on.
    bool await_drained();

    /// Sends some of what was sent a second time, and the answers are those of the first time.
    /// Gives how many. The target runs.
    std::size_t ask_again();

    [[nodiscard]] const proof_folder& folder() const noexcept { return folder_; }

private:
    [[nodiscard]] std::string url_of(const std::string& service) const;
    void end(const std::string& name);

    proof_folder folder_;
    std::mt19937_64 dice_;
    bool by_http_;
    std::map<std::string, std::unique_ptr<process>> processes_;
};

}  // namespace posthorn::crash
