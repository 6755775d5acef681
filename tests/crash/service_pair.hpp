#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn::crash {

/// Two services, `left` and `right`, each a process of its own on a database of its own, that send
/// each other links; and what must be true of them in the end.
///
/// Everything that does not come in time throws, with what the processes said.
///
/// Lifetime: nothing runs until `start`; what still runs in the destructor is killed.
/// Threads:  one.
class service_pair {
public:
    enum side : bool { left, right };
    static side other(side of) { return of == left ? right : left; }

    /// Where each has its database, and what its configuration says beyond the common lines.
    struct place {
        std::string folder;
        std::string store_lines{};
    };
    service_pair(place of_left, place of_right);

    void start(side which);
    void kill(side which);
    /// Lets it end by itself, and demands that it does.
    void stop(side which);
    /// Adds no more links from here on.
    void quiet(side which);

    /// Reads until there was a line that begins so, for each, in whatever order.
    void await(side which, std::vector<std::string> beginnings);
    /// Reads up to so many more commits of its load.
    void await_commits(side which, std::uint64_t more);
    /// Until nothing is pending on either side.
    void await_drained();
    /// Runs the program's command with its configuration; throws unless it succeeds.
    std::string command(side which, std::vector<std::string> words);
    [[nodiscard]] test::sqlite_file database(side which) const;
    [[nodiscard]] std::string database_file(side which) const;
    [[nodiscard]] std::uint64_t link_count(side which) const;
    /// The highest link of the present life whose commit was promised.
    [[nodiscard]] std::int64_t promised(side which) const { return nodes_[which].promised; }

    /// What is wrong between the two, in words; empty if every link of `from` took effect once at
    /// the other, its answer is kept as it was given, and nothing else took effect there. If `from`
    /// was restored, `before` names the database that was in its place: what was lost with it may
    /// have taken effect, once.
    [[nodiscard]] std::string faults(side from, const std::string& before = {});
    /// Whether links of one order key took effect out of order at the other, in words.
    [[nodiscard]] std::string disorder(side from);
    /// What no log and no answer may hold, and does; empty if none.
    [[nodiscard]] std::string leaks() const;

private:
    struct node {
        std::string name;
        place where{};
        std::string config{};
        int life = 0;
        std::int64_t promised = 0;
        std::unique_ptr<test::process> process{};
        std::deque<std::string> lines{};  // That nobody has waited for yet.
        std::string said{};               // By processes that have ended, and by commands.
    };

    void configure(node& one, const node& peer) const;
    /// Of both, so that neither ever waits for somebody to read.
    void read_all();
    void put_away(node& one);
    [[noreturn]] void give_up(const node& one, const std::string& why) const;
    [[nodiscard]] std::string log_of(const node& one) const;

    test::temporary_directory common_;  // Configuration and sockets.
    node nodes_[2];
};

}  // namespace posthorn::crash
