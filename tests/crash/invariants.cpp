#include "crash/invariants.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "crash/links.hpp"

namespace posthorn::crash {
namespace {

/// Of a row: integers by number, texts by number.
class row {
public:
    explicit row(sqlite3_stmt* of) : of_(of) {}
    [[nodiscard]] std::int64_t integer(int column) const {
        return sqlite3_column_int64(of_, column);
    }
    [[nodiscard]] std::string text(int column) const {
        const auto* const found = sqlite3_column_text(of_, column);
        return found == nullptr ? "" : reinterpret_cast<const char*>(found);
    }

private:
    sqlite3_stmt* of_;
};

// One row in memory at a time, however many there are. `visit` gives whether it wants more.
void walk(const services::database& in, const std::string& sql,
          const std::function<bool(const row&)>& visit) {
    sqlite3_stmt* statement = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(in.handle(), sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
        << sqlite3_errmsg(in.handle());
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owner(statement, sqlite3_finalize);
    int code = sqlite3_step(statement);
    while (code == SQLITE_ROW && visit(row(statement))) code = sqlite3_step(statement);
    EXPECT_TRUE(code == SQLITE_DONE || code == SQLITE_ROW) << sqlite3_errmsg(in.handle());
}

// Each number once, none missing, each with the hash that follows from all before it.
std::int64_t expect_links(const services::database& in, const std::string& sql) {
    std::int64_t links = 0;
    std::string before;
    walk(in, sql, [&](const row& one) {
        ++links;
        before = link_hash(links, before);
        const bool fits = one.integer(0) == links && one.text(1) == before;
        EXPECT_TRUE(fits) << sql << ": not link " << links << " but " << one.integer(0);
        return fits;
    });
    return links;
}

// The target's own chain, in the order in which it took effect, and the order of each key.
void expect_places(const services::database& target) {
    std::int64_t place = 0;
    std::string before;
    std::map<std::string, std::int64_t> newest;
    walk(target, "SELECT place, n, link, order_key FROM effects ORDER BY place",
         [&](const row& one) {
             const auto n = one.integer(1);
             before = link_hash(n, before);
             const auto key = one.text(3);
             const bool is_whole = one.integer(0) == ++place && one.text(2) == before;
             EXPECT_TRUE(is_whole) << "an effect is missing before place " << place;
             const bool follows = key == order_key_of(n) && (key.empty() || n > newest[key]);
             EXPECT_TRUE(follows) << n << " of " << key << " comes after " << newest[key];
             newest[key] = n;
             return is_whole && follows;
         });
}

void expect_same(services::database& in, const std::string& one, const std::string& other) {
    EXPECT_EQ(in.lines(one + " EXCEPT " + other + " LIMIT 5"), "") << one << " without " << other;
    EXPECT_EQ(in.lines(other + " EXCEPT " + one + " LIMIT 5"), "") << other << " without " << one;
}

void expect_no_leaks(const services& all) {
    std::ifstream leaks(all.folder().file("leaks"));
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(leaks), {}), "") << "in a log";
}

}  // namespace

std::int64_t expect_invariants(const services& all, const expected_end& expected) {
    auto source = all.open("source");
    auto target = all.open("target");
    const auto links = expect_links(source, "SELECT n, hash FROM chain ORDER BY n");
    EXPECT_GE(links, expected.promised) << "links were lost that were said to be committed";
    EXPECT_EQ(expect_links(target, "SELECT n, hash FROM effects ORDER BY n"), links);
    expect_places(target);

    EXPECT_EQ(source.lines("SELECT status || ' ' || count(*) FROM outbox_messages GROUP BY status"),
              links == 0 ? "" : fmt::format("Sent {}\n", links));
    target.run("ATTACH '" + all.folder().file("source.db") + "' AS source");
    expect_same(target, "SELECT message_id FROM source.outbox_messages",
                "SELECT message_id FROM effects");
    expect_same(target, "SELECT message_id FROM inbox_messages", "SELECT message_id FROM effects");
    EXPECT_EQ(target.integer("SELECT count(*) FROM inbox_messages"), links);
    if (expected.receipts) {
        const std::string wanted = "SELECT n, receipt FROM effects WHERE n % 4 = 0";
        expect_same(target, "SELECT n, receipt FROM source.receipts", wanted);
        EXPECT_EQ(source.integer("SELECT count(*) FROM receipts"), links / 4);
        EXPECT_EQ(target.integer("SELECT count(*) FROM main.outbox_messages WHERE status = 'Sent'"),
                  links / 4);
    }
    for (auto* const each : {&source, &target})
        EXPECT_EQ(each->text("PRAGMA integrity_check"), "ok");
    expect_no_leaks(all);
    return links;
}

}  // namespace posthorn::crash
