#pragma once

#include <csignal>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "crash/canary.hpp"
#include "support/eventually.hpp"
#include "support/planted_program.hpp"
#include "support/process.hpp"
#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"

/// Workers on the two databases of a directory, killed and started again.
class crash : public testing::Test {
protected:
    using process = posthorn::test::process;
    using database = posthorn::test::sqlite_file;
    using arguments = std::vector<std::string>;

    [[nodiscard]] std::unique_ptr<process> start(arguments with) const {
        with.insert(with.begin(),
                    {posthorn::test::planted_or(POSTHORN_WORKER), directory.path().string()});
        return std::make_unique<process>(with);
    }

    /// Reads up to a line that holds the text, and gives it; empty if it does not come.
    static std::string await_line(process& from, std::string_view text) {
        while (const auto line = from.read_line())
            if (line->contains(text)) return *line;
        ADD_FAILURE() << "no line with '" << text << "' in:\n" << from.out() << from.err();
        return {};
    }

    /// Stops it where it holds neither file: what it does by the clock may have begun to write.
    void pause_between_writes(process& one) const {
        EXPECT_TRUE(posthorn::test::eventually([&] {
            one.send_signal(SIGSTOP);
            const bool is_free = posthorn::test::eventually([&] { return one.is_stopped(); }) &&
                                 can_be_written("orders.db") && can_be_written("billing.db");
            if (!is_free) one.send_signal(SIGCONT);
            return is_free;
        }));
    }
    [[nodiscard]] bool can_be_written(const std::string& name) const {
        return open(name).takes("BEGIN IMMEDIATE; ROLLBACK");
    }

    static void kill(process& one) {
        one.send_signal(SIGKILL);
        EXPECT_EQ(one.wait(), (posthorn::test::process_end{-1, SIGKILL}));
        expect_no_canary(one);
    }

    /// Neither its log nor anything else that it said tells what is in a payload.
    static void expect_no_canary(const process& one) {
        EXPECT_FALSE(posthorn::crash::tells_a_canary(one.out() + one.err()))
            << one.out() << one.err();
    }

    /// Starts a worker and kills it at the named point; gives what it said.
    std::string crash_at(const std::string& point, arguments with = {}) const {
        with.insert(with.begin(), "at=" + point);
        const auto child = start(std::move(with));
        await_line(*child, "at: " + point);
        kill(*child);
        return child->out();
    }

    /// Starts a worker that ends by itself when all is delivered; gives what it said.
    std::string recover(arguments with = {}) const {
        with.emplace_back("drain=1");
        const auto child = start(std::move(with));
        EXPECT_EQ(child->wait(), (posthorn::test::process_end{0, 0}))
            << child->out() << child->err();
        expect_no_canary(*child);
        for (const auto* const name : {"orders.db", "billing.db"})
            EXPECT_EQ(open(name).text("PRAGMA integrity_check"), "ok");
        return child->out();
    }

    [[nodiscard]] database open(const std::string& name) const {
        return database(directory.file(name));
    }
    [[nodiscard]] std::int64_t orders(const std::string& sql) const {
        return open("orders.db").integer(sql);
    }
    /// `Sent 3` for three messages that are all sent; a line for each status.
    [[nodiscard]] std::string outbox() const {
        return open("orders.db")
            .lines("SELECT status || ' ' || count(*) FROM outbox_messages GROUP BY status");
    }
    [[nodiscard]] std::int64_t effects() const {
        return open("billing.db").integer("SELECT count(*) FROM effects");
    }
    [[nodiscard]] std::int64_t retries() const {
        return orders("SELECT sum(retry_count) FROM outbox_messages");
    }
    /// Each message that is sent took effect once, and nothing else did.
    void expect_once(int messages) const {
        EXPECT_EQ(outbox(), "Sent " + std::to_string(messages) + "\n");
        EXPECT_EQ(orders("SELECT count(*) FROM orders"), messages);
        EXPECT_EQ(effects(), messages);
        EXPECT_EQ(open("billing.db").lines("SELECT payload ->> 'n' AS n FROM effects ORDER BY n"),
                  open("orders.db").lines("SELECT n FROM orders ORDER BY n"));
        const auto sent =
            open("orders.db").lines("SELECT message_id FROM outbox_messages ORDER BY message_id");
        EXPECT_EQ(open("billing.db").lines("SELECT message_id FROM effects ORDER BY message_id"),
                  sent);
        EXPECT_EQ(
            open("billing.db").lines("SELECT message_id FROM inbox_messages ORDER BY message_id"),
            sent);
    }

    posthorn::test::temporary_directory directory;
};
