#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"

namespace posthorn::integration {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
namespace fs = std::filesystem;

class node_lifecycle : public node_test {};

TEST_F(node_lifecycle, may_start_twice_and_stop_twice) {
    node orders(options("orders"));
    orders.handle("Ping", [](context&, const message&) {});
    orders.start();
    orders.start();
    orders.send("orders", "Ping", "{}");
    EXPECT_TRUE(test::eventually([&] { return orders.stats().sent == 1; }));
    orders.stop();
    orders.stop();
    EXPECT_EQ(code_of([&] { orders.send("orders", "Ping", "{}"); }), error_code::closed);
}

TEST_F(node_lifecycle, does_not_start_again_after_a_stop) {
    node orders(options("orders"));
    orders.start();
    orders.stop();
    EXPECT_EQ(code_of([&] { orders.start(); }), error_code::closed);
}

TEST_F(node_lifecycle, may_end_without_a_start_and_keeps_what_it_was_given) {
    {
        const node unused(options("orders"));
    }
    {
        node orders(options("orders"));
        orders.send("orders", "Ping", "{}");
        orders.stop();
    }
    node again(options("orders"));
    EXPECT_EQ(again.stats().pending, 1);
    again.handle("Ping", [](context&, const message&) {});
    again.start();
    EXPECT_TRUE(test::eventually([&] { return again.stats().sent == 1; }));
}

TEST_F(node_lifecycle, is_green_while_all_is_well) {
    node orders(options("orders"));
    orders.start();
    EXPECT_EQ(orders.health().level, health_level::green);
    EXPECT_EQ(code_of([&] { orders.check_integrity(); }), std::nullopt);
}

TEST_F(node_lifecycle, takes_no_handler_after_the_start_and_no_second_one_for_an_endpoint) {
    node orders(options("orders"));
    const auto nothing = [](context&, const message&) {};
    orders.handle("Ping", nothing);
    EXPECT_EQ(code_of([&] { orders.handle("Ping", nothing); }), error_code::invalid_argument);
    orders.start();
    EXPECT_EQ(code_of([&] { orders.handle("Pong", nothing); }), error_code::invalid_argument);
    EXPECT_EQ(code_of([&] { orders.handle_external("Pong", [](const message&) {}); }),
              error_code::invalid_argument);
}

TEST_F(node_lifecycle, refuses_a_second_node_of_the_same_service_in_one_process) {
    node orders(options("orders"));
    orders.start();
    auto same = options("orders");
    same.store.database = path("elsewhere");
    node second(same);
    EXPECT_EQ(code_of([&] { second.start(); }), error_code::invalid_argument);
}

// What opening a node throws: `code: message`.
std::string refusal(const node_options& with) {
    try {
        const node opened(with);
    } catch (const error& refused) {
        return std::string(refused.name()) + ": " + refused.what();
    }
    return "opened";
}

TEST_F(node_lifecycle, says_what_is_wrong_with_its_options) {
    auto with = options("");
    EXPECT_THAT(refusal(with), HasSubstr("invalid_argument: give the node a service name"));
    with = options("orders");
    with.log_level = "loud";
    EXPECT_THAT(refusal(with), HasSubstr("invalid_argument: log_level is one of"));
    with = options("orders");
    with.routes["inventory"] = "carrier pigeon";
    EXPECT_THAT(refusal(with), HasSubstr("the route 'carrier pigeon' is not understood"));
    with = options("orders");
    with.store.database = "postgressql://u:secret@h/d";
    EXPECT_THAT(refusal(with), HasSubstr("'postgressql://u:(hidden)@h/d' is no database"));
}

TEST_F(node_lifecycle, refuses_times_and_numbers_below_zero) {
    using change = std::function<void(node_options&)>;
    for (const auto& [name, spoil] : std::map<std::string, change>{
             {"exponential_backoff::base",
              [](auto& with) { with.retry.backoff = exponential_backoff{.base = -1ms}; }},
             {"exponential_backoff::max",
              [](auto& with) { with.retry.backoff = exponential_backoff{.max = -1ms}; }},
             {"exponential_backoff::jitter_max",
              [](auto& with) { with.retry.backoff = exponential_backoff{.jitter_max = -1ms}; }},
             {"exponential_backoff::jitter_factor",
              [](auto& with) { with.retry.backoff = exponential_backoff{.jitter_factor = 1.5}; }},
             {"fixed_backoff::delay", [](auto& with) { with.retry.backoff = fixed_backoff{-1ms}; }},
             {"retry.backoff", [](auto& with) { with.retry.backoff = custom_backoff{}; }},
             {"retry.retries_max", [](auto& with) { with.retry.retries_max = -2; }},
             {"message_ttl", [](auto& with) { with.message_ttl = 0ms; }}}) {
        auto with = options("orders");
        spoil(with);
        EXPECT_THAT(refusal(with), HasSubstr("invalid_argument: " + name));
    }
    auto with = options("orders");
    with.retry.retries_max = retry_for_ever;
    EXPECT_EQ(refusal(with), "opened");
}

TEST_F(node_lifecycle, keeps_a_service_of_another_name_off_its_file) {
    node orders(options("orders"));
    auto renamed = options("sales");
    renamed.store.database = path("orders");
    EXPECT_THAT(refusal(renamed), HasSubstr("invalid_configuration: the database belongs to"));
}

TEST_F(node_lifecycle, says_that_the_directory_is_missing) {
    auto with = options("orders");
    with.store.database = directory.file("missing/orders.db");
    EXPECT_THAT(refusal(with), HasSubstr("store_unavailable: the directory '"));
    EXPECT_THAT(refusal(with), HasSubstr("create it"));
}

TEST_F(node_lifecycle, says_that_the_path_is_no_file) {
    auto with = options("orders");
    with.store.database = directory.path();
    EXPECT_THAT(refusal(with), HasSubstr("store_unavailable: cannot open '"));
    EXPECT_THAT(refusal(with), HasSubstr("look at the path and its permissions"));
}

/// Makes this thread an ordinary user where it is root, whom file modes do not bind.
class as_ordinary_user {
public:
    as_ordinary_user() : before_(static_cast<uid_t>(::setfsuid(before_root()))) {}
    ~as_ordinary_user() { ::setfsuid(before_); }
    as_ordinary_user(const as_ordinary_user&) = delete;
    as_ordinary_user& operator=(const as_ordinary_user&) = delete;

private:
    static uid_t before_root() { return ::geteuid() == 0 ? 65534 : ::geteuid(); }
    uid_t before_;
};

TEST_F(node_lifecycle, says_that_the_file_cannot_be_written) {
    {
        const node made(options("orders"));
    }
    fs::permissions(directory.path(), fs::perms(0755));
    fs::permissions(path("orders"), fs::perms(0444));
    std::string said;
    {
        const as_ordinary_user now;
        if (::access(path("orders").c_str(), R_OK) != 0) GTEST_SKIP() << "no other user here";
        said = refusal(options("orders"));
    }
    EXPECT_THAT(said, HasSubstr("store_read_only: '"));
    EXPECT_THAT(said, HasSubstr("give the service the right to write"));
}

TEST_F(node_lifecycle, says_that_the_tables_are_newer_than_it_knows) {
    {
        const node made(options("orders"));
    }
    database(path("orders")).run("INSERT INTO posthorn_migrations VALUES ('store', 99, 0)");
    EXPECT_THAT(refusal(options("orders")), HasSubstr("store_too_new: the tables of 'store'"));
    EXPECT_THAT(refusal(options("orders")), HasSubstr("run the newer Posthorn"));
}

TEST_F(node_lifecycle, says_that_the_file_is_no_database) {
    std::ofstream(path("orders")) << std::string(8192, 'x');
    EXPECT_THAT(refusal(options("orders")), HasSubstr("store_corrupt: "));
    EXPECT_THAT(refusal(options("orders")), HasSubstr("restore a backup"));
}

// Overwrites the page at which a table's rows begin.
void damage(const std::string& file, const std::string& table) {
    test::sqlite_file database(file);
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    const auto page_size = database.integer("PRAGMA page_size");
    const auto page =
        database.integer("SELECT rootpage FROM sqlite_schema WHERE name = '" + table + "'");
    database.close();
    std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
    bytes.seekp((page - 1) * page_size);
    bytes << std::string(static_cast<std::size_t>(page_size), '\x5a');
}

TEST_F(node_lifecycle, says_that_a_page_is_damaged) {
    {
        node made(options("orders"));
        execute(made, "CREATE TABLE orders (id TEXT)");
        execute(made, "INSERT INTO orders VALUES ('o1')");
    }
    damage(path("orders"), "orders");
    EXPECT_THAT(refusal(options("orders")), HasSubstr("store_corrupt: "));
    EXPECT_THAT(refusal(options("orders")), HasSubstr("restore a backup"));
}

TEST_F(node_lifecycle, finds_damage_when_it_is_asked_to_look) {
    node orders(options("orders"));
    execute(orders, "CREATE TABLE orders (id TEXT)");
    execute(orders, "CREATE INDEX by_id ON orders (id)");
    execute(orders, "INSERT INTO orders VALUES ('o1')");
    orders.check_integrity();
    // An index that has lost its row: every page is well, but they do not agree.
    database other(path("orders"));
    other.run(
        "PRAGMA writable_schema = ON;"
        "UPDATE sqlite_schema SET sql = 'CREATE INDEX by_id ON orders (id) WHERE id <> ''o1'''"
        " WHERE name = 'by_id'; PRAGMA writable_schema = RESET;"
        "INSERT INTO orders VALUES ('o1');"
        "PRAGMA writable_schema = ON;"
        "UPDATE sqlite_schema SET sql = 'CREATE INDEX by_id ON orders (id)'"
        " WHERE name = 'by_id'; PRAGMA writable_schema = RESET");
    EXPECT_EQ(code_of([&] { orders.check_integrity(); }), error_code::store_corrupt);
}

}  // namespace
}  // namespace posthorn::integration
