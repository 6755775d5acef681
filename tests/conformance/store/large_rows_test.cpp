// Rows that plain SQL has made larger than any message: they are told by their sizes, and what is
// read of a store at a time has a bound in bytes.
#include "conformance/store/inspection.hpp"
#include "store/dead_letters.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::size_t large = 3'000'000;

/// A row with one column of so many bytes.
std::string row_with(const std::string& column, std::size_t bytes) {
    const std::string text(bytes, 'x');
    const bool is_json = column == "payload" || column == "headers";
    const auto value = is_json ? fmt::format(R"({{"a":"{}"}})", text) : text;
    if (column == "payload" || column == "endpoint" || column == "destination")
        return fmt::format(
            "INSERT INTO outbox_messages(destination, endpoint, payload) VALUES ('{}', '{}', '{}')",
            column == "destination" ? value : "billing", column == "endpoint" ? value : "Charge",
            column == "payload" ? value : "{}");
    return fmt::format(
        "INSERT INTO outbox_messages(destination, endpoint, payload, {}) "
        "VALUES ('billing', 'Charge', '{{}}', '{}')",
        column, value);
}

constexpr auto good =
    "INSERT INTO outbox_messages(destination, endpoint, payload) "
    "VALUES ('billing', 'Charge', '{\"good\":1}')";

TEST_P(store, a_row_larger_than_a_message_may_be_is_bad_by_its_size_and_those_beside_it_are_read) {
    db();
    const auto other = disk().connect();
    const std::vector<std::pair<std::string, std::string>> columns{
        {"payload", "limits.payload"},
        {"headers", "limits.message_headers"},
        {"endpoint", "limits.name"},
        {"content_type", "limits.name"},
        {"correlation_id", "limits.text"},
        {"message_type", "fixed"},
        {"parent_id", "fixed"},
        {"causation_id", "fixed"}};
    for (const auto& [column, limit] : columns) {
        ASSERT_EQ(other->run(row_with(column, large)), std::nullopt) << column;
        ASSERT_EQ(other->run(good), std::nullopt);
    }
    const auto page = due("billing", disk().now());
    EXPECT_THAT(page.rows, SizeIs(columns.size()));
    ASSERT_THAT(page.bad, SizeIs(columns.size()));
    for (std::size_t i = 0; i < columns.size(); ++i) {
        EXPECT_THAT(page.bad[i].reason, HasSubstr(columns[i].first));
        EXPECT_THAT(page.bad[i].reason, HasSubstr("300000")) << "the size";
        EXPECT_THAT(page.bad[i].reason, HasSubstr(columns[i].second));
    }
}

TEST_P(store, a_name_too_long_to_be_looked_for_is_refused) {
    db();
    const auto other = disk().connect();
    // Not of one letter, which a server would make short.
    std::string name;
    for (unsigned i = 0; name.size() < 200'000; ++i)
        name += fmt::format("{:x}", i * 2'654'435'761U);
    for (const auto* column : {"destination", "tenant", "order_key"}) {
        EXPECT_NE(other->run(row_with(column, large)), std::nullopt) << column;
        EXPECT_NE(other->run(fmt::format(
                      "INSERT INTO outbox_messages({}endpoint, payload, {}) "
                      "VALUES ({}'e', '{{}}', '{}')",
                      std::string_view(column) == "destination" ? "" : "destination, ", column,
                      std::string_view(column) == "destination" ? "" : "'d', ", name)),
                  std::nullopt)
            << column;
    }
    ASSERT_EQ(other->run(good), std::nullopt);
    EXPECT_NE(other->run("UPDATE outbox_messages SET destination = '" + name + "'"), std::nullopt);
    const auto page = due("billing", disk().now());
    EXPECT_THAT(page.rows, SizeIs(1));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), 1);
}

TEST_P(store, a_page_has_no_more_bytes_than_asked_for_but_for_its_last_message) {
    constexpr std::size_t size = 100'000;
    std::vector<uuid> wanted, got;
    for (int i = 0; i < 10; ++i) {
        auto body = sample();
        body.payload = '"' + std::string(i % 2 == 0 ? size : 10, 'x') + '"';
        put(body);
        wanted.push_back(body.id);
    }
    std::vector<std::int64_t> held;
    bool more = true;
    for (int reads = 0; more && reads < 10; ++reads) {
        const auto page = due({.destination = "billing",
                               .now = noon + 1h,
                               .limit = 100,
                               .bytes_max = 2 * size,
                               .held = held});
        std::size_t bytes = 0;
        for (const auto& row : page.rows) {
            bytes += bytes_of(row);
            got.push_back(row.body.id);
            held.push_back(row.seq);
        }
        EXPECT_LE(bytes, 3 * size + 5'000);
        EXPECT_THAT(page.rows, testing::Not(IsEmpty()));
        more = page.more;
        std::ranges::sort(held);
    }
    EXPECT_FALSE(more);
    EXPECT_THAT(got, testing::UnorderedElementsAreArray(wanted));
}

TEST_P(store, a_page_has_a_message_however_few_bytes_are_asked_for) {
    auto body = sample();
    body.payload = '"' + std::string(100'000, 'x') + '"';
    put(body);
    put(sample());
    const auto page =
        due({.destination = "billing", .now = noon + 1h, .limit = 100, .bytes_max = 0});
    EXPECT_THAT(page.rows, SizeIs(1));
    EXPECT_TRUE(page.more);
}

TEST_P(store, an_expired_row_is_told_without_its_content_however_large) {
    db();
    const auto other = disk().connect();
    ASSERT_EQ(other->run(row_with("payload", large)), std::nullopt);
    ASSERT_EQ(other->run(row_with("endpoint", large)), std::nullopt);
    const auto slice = look<expired_slice>([&](store_reader& from) {
        return from.outbox().expired({.destination = "billing", .now = disk().now() + 48h});
    });
    ASSERT_THAT(slice.rows, SizeIs(2));
    for (const auto& row : slice.rows) EXPECT_LT(bytes_of(row), 10'000U);
}

TEST_P(store, messages_that_were_given_up_are_told_in_pages_of_a_few_megabytes) {
    const auto epoch = dispatch();
    std::vector<settlement> dead;
    for (int i = 0; i < 12; ++i) {
        auto body = sample();
        body.payload = '"' + std::string(1'000'000, 'x') + '"';
        dead.push_back({.seq = put(body), .to = outbox_status::dead, .at = noon, .error = "why"});
    }
    ASSERT_EQ(disk().connect()->run(row_with("payload", large)), std::nullopt);
    for (const auto& bad : due("billing", disk().now() + 1h).bad)
        dead.push_back(
            {.seq = bad.seq, .to = outbox_status::dead, .at = noon, .error = bad.reason});
    ASSERT_THAT(dead, SizeIs(13));
    EXPECT_EQ(settle(dead, epoch), 13);
    std::int64_t last = 0;
    std::size_t told = 0;
    for (int pages = 0; pages < 20; ++pages) {
        const auto page = look<std::vector<final_row>>(
            [&](store_reader& from) { return from.outbox().ended(last, 100); });
        if (page.empty()) break;
        std::size_t bytes = 0;
        for (const auto& one : page) bytes += bytes_of(one.row);
        EXPECT_LE(bytes, 10'000'000U);
        told += page.size();
        last = page.back().row.seq;
    }
    EXPECT_EQ(told, 13U);
}

TEST_P(store, messages_that_were_given_up_for_their_long_columns_are_told_without_them) {
    const auto epoch = dispatch();
    const auto other = disk().connect();
    const std::array columns{"endpoint",     "content_type", "correlation_id",
                             "message_type", "parent_id",    "causation_id"};
    for (const auto* column : columns)
        ASSERT_EQ(other->run(row_with(column, large)), std::nullopt) << column;
    std::vector<settlement> dead;
    for (const auto& bad : due("billing", disk().now() + 1h).bad)
        dead.push_back(
            {.seq = bad.seq, .to = outbox_status::dead, .at = noon, .error = bad.reason});
    ASSERT_THAT(dead, SizeIs(columns.size()));
    EXPECT_EQ(settle(dead, epoch), static_cast<int>(columns.size()));
    const auto told = look<std::vector<final_row>>(
        [&](store_reader& from) { return from.outbox().ended(0, 100); });
    ASSERT_THAT(told, SizeIs(columns.size()));
    for (const auto& one : told) {
        EXPECT_LT(bytes_of(one.row), 100'000U);
        EXPECT_EQ(one.row.body.payload, "{}");
    }
}

TEST_P(inspected_store, shows_long_columns_cut_and_large_content_by_its_size) {
    db();
    const auto other = disk().connect();
    for (const auto* column : {"endpoint", "message_type", "last_error", "resolution"})
        ASSERT_EQ(other->run(row_with(column, large)), std::nullopt) << column;
    const auto page = list(message_filter{.limit = 10});
    ASSERT_THAT(page.rows, SizeIs(4));
    for (const auto& row : page.rows) {
        EXPECT_LE(
            row.endpoint.size() + row.type.size() + row.last_error.size() + row.resolution.size(),
            5'000U);
        const auto shown = show(*uuid::parse(row.id), true);
        ASSERT_TRUE(shown);
        EXPECT_EQ(shown->payload, "{}");
    }
    ASSERT_EQ(other->run("UPDATE outbox_messages SET status = 'Dead'"), std::nullopt);
    const auto dead =
        look<dead_page>([&](store_reader& from) { return from.dead_letters().list({}, 0, 10); });
    EXPECT_THAT(dead.rows, SizeIs(4));
    EXPECT_GT(
        write<std::int64_t>([](store_transaction& tx) { return tx.dead_letters().group_some(10); }),
        0);
    EXPECT_THAT(look<dead_groups>([](store_reader& from) {
                    return from.dead_letters().groups({}, 10);
                }).groups,
                testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace posthorn::conformance
