#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/async/virtual_loop.hpp"
#include "base/random.hpp"
#include "inbox/inbox.hpp"
#include "queue/queue.hpp"
#include "store/async.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/test_environment.hpp"

namespace posthorn {

/// An inbox on a real database under virtual time, with a table for the handlers to write to.
class inbox_fixture : public testing::Test {
protected:
    explicit inbox_fixture(std::vector<table_set> above = {queue_tables()})
        : above_(std::move(above)) {
        std::string pattern = (std::filesystem::temp_directory_path() / "inbox_XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        open_store();
        change("CREATE TABLE effects (what TEXT NOT NULL UNIQUE)");
    }
    ~inbox_fixture() override {
        background_.cancel();
        loop.run(background_.join());
        box_.reset();
        database_->stop();
        database_.reset();
        std::filesystem::remove_all(folder_);
    }

    void open_store() {
        auto opened =
            sqlite::open({.path = folder_ + "/test.db", .service = "billing", .above = above_},
                         {.time = loop.time(), .writer = writer_, .log = log});
        ASSERT_TRUE(opened) << opened.error().what();
        database_ = *std::move(opened);
    }
    void reopen_store() {
        box_.reset();
        database_->stop();
        database_.reset();
        open_store();
    }

    store& database() { return *database_; }

    void handle(std::string endpoint, handler with) {
        ASSERT_TRUE(registry.add(std::move(endpoint), std::move(with)));
    }
    /// A transactional handler that writes its message's payload and answers with `response`.
    void handle_by_writing(std::string endpoint, std::string response = "") {
        handle(std::move(endpoint),
               {.run = transactional_handler([response](context& c, const message& m) {
                    c.execute("INSERT INTO effects VALUES (?)", m.payload);
                    return response;
                })});
    }

    /// Built with the first use, when all handlers are there.
    inbox& box(store* over = nullptr) {
        if (!box_) {
            registry.freeze();
            box_.emplace(inbox_deps{.env = env_,
                                    .database = over != nullptr ? *over : *database_,
                                    .registry = registry,
                                    .maker = maker,
                                    .ids = ids},
                         options);
        }
        return *box_;
    }

    message from_orders(std::string endpoint, std::string payload) {
        message made;
        made.id = ids.next();
        made.source = "orders";
        made.destination = "billing";
        made.endpoint = std::move(endpoint);
        made.payload = std::move(payload);
        made.created_at = loop.time().wall();
        made.expires_at = made.created_at + std::chrono::hours{24};
        return made;
    }

    delivery receive(const message& one) { return loop.run(box().receive({&one})).at(0); }
    std::vector<delivery> receive(const std::vector<message>& many) {
        message_batch batch;
        for (const auto& one : many) batch.push_back(&one);
        return loop.run(box().receive(batch));
    }

    /// Runs the inbox's own job until the test ends.
    void run_in_background() { background_.spawn(box().run()); }

    void change(std::string sql) {
        const auto done = loop.run(commit(*database_, [&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.execute(sql, {}));
            return {};
        }));
        ASSERT_TRUE(done) << done.error().what();
    }
    std::int64_t number(std::string_view sql) {
        std::int64_t found = -1;
        const auto looked = database_->read([&](store_reader& reader) {
            return reader.query(sql, {}, [&](const sql_row& row) { found = row.integer(0); });
        });
        EXPECT_TRUE(looked) << looked.error().what();
        return found;
    }
    std::int64_t effects() { return number("SELECT count(*) FROM effects"); }
    std::int64_t inbox_rows() { return number("SELECT count(*) FROM inbox_messages"); }
    std::int64_t outbox_rows() { return number("SELECT count(*) FROM outbox_messages"); }

    std::optional<inbox_entry> entry_of(const message& one) {
        std::optional<inbox_entry> entry;
        const auto looked = database_->read([&](store_reader& reader) -> result<> {
            auto found = reader.inbox().find({one.source, one.id});
            POSTHORN_TRY(found);
            entry = *std::move(found);
            return {};
        });
        EXPECT_TRUE(looked);
        return entry;
    }

    virtual_loop loop;
    std::vector<std::string> lines;
    logger log{{.sink = [this](std::string_view line) { lines.emplace_back(line); }},
               [this] { return loop.time().wall(); }};
    seeded_random random{42};
    uuid_generator ids{[this] { return loop.time().wall(); }, random};
    message_maker maker{{.source = "billing"}, loop.time(), ids};
    handlers registry;
    inbox_options options;

private:
    std::vector<table_set> above_;
    std::string folder_;
    inline_executor writer_;
    test::test_environment env_{loop, log};
    std::unique_ptr<store> database_;
    std::optional<inbox> box_;
    task_group background_{loop.executor()};
};

}  // namespace posthorn
