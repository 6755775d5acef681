// Backups of services at work, and what becomes of their messages when one is restored.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "integration/sidecar_fixture.hpp"

namespace posthorn {
namespace {

using integration::exit_0;
using integration::free_ports;
using integration::secret_with;
using integration::sidecar;
using test::run_process;
using testing::HasSubstr;

constexpr test::process_end exit_1{1, 0};

/// A shop that sends orders, and the stock that takes each of them once.
class backup_of_services : public ::testing::Test {
protected:
    backup_of_services() {
        test::sqlite_file(folder_.file("stock.db"), test::sqlite_file::make)
            .run("CREATE TABLE taken (n INTEGER)");
    }
    std::unique_ptr<sidecar> start_stock() {
        return std::make_unique<sidecar>(
            folder_, "stock",
            "[listen]\nhttp = \"\"\nadmin = \"\"\nunix = \"run/stock.sock\"\n" +
                secret_with("shop") +
                "[handlers]\nOrder = \"sql:INSERT INTO taken (n) VALUES (:n)\"\n",
            test::process_options{}, 1);
    }
    std::unique_ptr<sidecar> start_shop() {
        return std::make_unique<sidecar>(folder_, "shop",
                                         free_ports + secret_with("stock") +
                                             "[routes]\nstock = \"unix://" +
                                             folder_.path().string() + "/run/stock.sock\"\n");
    }
    static void kill(sidecar& node) {
        node.child().send_signal(SIGKILL);
        EXPECT_TRUE(node.child().wait());
    }
    test::process_result posthorn(std::vector<std::string> words, const std::string& service) {
        words.insert(words.begin(), POSTHORN_PROGRAM);
        words.insert(words.end(), {"--config", folder_.file(service + ".toml")});
        return run_process(words);
    }
    /// Its file and the time that it was taken at.
    std::pair<std::string, std::string> back_up(const std::string& service) {
        const auto made = posthorn({"backup", "--to", folder_.file("backups"), "--json"}, service);
        EXPECT_EQ(made.end, exit_0) << made.err;
        return {field(made.out, "file"), field(made.out, "takenAt")};
    }
    static std::string field(const std::string& json, const std::string& name) {
        std::smatch found;
        return std::regex_search(json, found, std::regex("\"" + name + "\":\"([^\"]*)\""))
                   ? found[1].str()
                   : "";
    }
    void send_orders(int from, int to) const {
        test::sqlite_file shop(folder_.file("shop.db"));
        for (int n = from; n < to; ++n)
            shop.run(
                "INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('stock',"
                " 'Order', json_object('n', " +
                std::to_string(n) + "))");
    }
    [[nodiscard]] std::int64_t taken(const std::string& file) const {
        return test::sqlite_file(file).integer("SELECT count(*) FROM taken");
    }

    test::temporary_directory folder_;
    std::string stock_file_ = folder_.file("stock.db");
};

/// Orders without end, in a thread of their own.
class load {
public:
    explicit load(std::function<void(int)> send)
        : send_(std::move(send)), thread_([this] {
              while (!stopped_) send_(next_++);
          }) {}
    /// How many there were.
    int stop() {
        stopped_ = true;
        thread_.join();
        return next_;
    }

private:
    std::function<void(int)> send_;
    std::atomic<bool> stopped_ = false;
    std::atomic<int> next_ = 0;
    std::thread thread_;
};

constexpr auto pending = "SELECT count(*) FROM outbox_messages WHERE status = 'Pending'";
constexpr auto different = "SELECT count(DISTINCT n) FROM taken";

TEST_F(backup_of_services, a_restored_receiver_gets_what_it_lost_by_a_replay_and_nothing_twice) {
    auto stock = start_stock();
    const auto shop = start_shop();
    load orders([this](int n) { send_orders(n, n + 1); });
    const auto comes_to_have = [&](std::int64_t count) {
        return test::eventually([&] { return taken(stock_file_) >= count; });
    };
    ASSERT_TRUE(comes_to_have(50));
    const auto [file, taken_at] = back_up("stock");
    const auto in_backup = taken(file);
    EXPECT_GE(in_backup, 50);
    ASSERT_TRUE(comes_to_have(in_backup + 50)) << "it goes on";
    kill(*stock);
    EXPECT_EQ(test::sqlite_file(file).text("PRAGMA integrity_check"), "ok");

    const auto restored = posthorn({"restore", file}, "stock");
    ASSERT_EQ(restored.end, exit_0) << restored.err;
    EXPECT_THAT(restored.out, HasSubstr("outbox replay --since " + taken_at));
    EXPECT_EQ(taken(stock_file_), in_backup);
    stock = start_stock();
    const int sent = orders.stop();
    ASSERT_TRUE(shop->comes_to(pending, 0));
    EXPECT_LT(stock->database().integer(different), sent) << "what it lost does not come by itself";

    const auto replayed =
        posthorn({"outbox", "replay", "--since", taken_at, "--destination", "stock"}, "shop");
    ASSERT_EQ(replayed.end, exit_0) << replayed.err;
    EXPECT_TRUE(stock->comes_to(different, sent));
    ASSERT_TRUE(shop->comes_to(pending, 0));
    EXPECT_EQ(taken(stock_file_), sent) << "none twice";
    shop->stop();
    stock->stop();
}

TEST_F(backup_of_services,
       a_restored_sender_sends_again_what_was_pending_and_it_has_no_second_effect) {
    auto shop = start_shop();
    send_orders(0, 60);  // There is nobody yet to take them.
    const auto [file, taken_at] = back_up("shop");
    auto stock = start_stock();
    send_orders(60, 80);
    ASSERT_TRUE(stock->comes_to(different, 80));
    const auto epoch = "SELECT epoch FROM posthorn_leases WHERE name = 'dispatcher'";
    const auto epoch_before = shop->database().integer(epoch);
    kill(*shop);

    const auto restored = posthorn({"restore", file, "--json"}, "shop");
    ASSERT_EQ(restored.end, exit_0) << restored.err;
    EXPECT_EQ(test::sqlite_file(folder_.file("shop.db")).integer(pending), 60);
    EXPECT_EQ(test::sqlite_file(field(restored.out, "kept"))
                  .integer("SELECT count(*) FROM outbox_messages"),
              80);
    shop = start_shop();
    ASSERT_TRUE(shop->comes_to(pending, 0));
    EXPECT_GT(shop->database().integer(epoch), epoch_before);
    send_orders(80, 81);
    EXPECT_TRUE(stock->comes_to(different, 81));
    EXPECT_EQ(taken(stock_file_), 81) << "none twice";
    shop->stop();
    stock->stop();
}

TEST_F(backup_of_services, a_restore_is_refused_while_the_node_runs) {
    const auto shop = start_shop();
    send_orders(0, 3);
    const auto file = back_up("shop").first;
    const auto refused = posthorn({"restore", file}, "shop");
    EXPECT_EQ(refused.end, exit_1);
    EXPECT_THAT(refused.err, HasSubstr("process " + std::to_string(shop->child().id())));
    EXPECT_EQ(shop->database().integer("SELECT count(*) FROM outbox_messages"), 3);
    shop->stop();
}

TEST_F(backup_of_services, a_backup_of_the_inbox_does_not_take_the_place_of_the_outbox) {
    const std::string service = "[service]\nid = \"split\"\n[store]\n";
    std::ofstream(folder_.file("other.toml")) << service << "url = \"sqlite:split-in.db\"\n";
    std::ofstream(folder_.file("split.toml"))
        << service << "url = \"sqlite:split.db\"\ninbox_url = \"sqlite:split-in.db\"\n";
    for (const auto* each : {"other", "split"}) ASSERT_EQ(posthorn({"init"}, each).end, exit_0);
    const auto made = posthorn({"backup", "--to", folder_.file("backups"), "--json"}, "split");
    ASSERT_EQ(made.end, exit_0) << made.err;
    std::string outbox, inbox;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file("backups"))) {
        const bool is_inbox = entry.path().filename().string().starts_with("split-in-");
        (is_inbox ? inbox : outbox) = entry.path().string();
    }
    const auto wrong = posthorn({"restore", inbox}, "split");
    EXPECT_NE(wrong.end, exit_0);
    EXPECT_THAT(wrong.err, HasSubstr("restore it with --inbox"));
    EXPECT_NE(posthorn({"restore", outbox, "--inbox"}, "split").end, exit_0);
    EXPECT_EQ(posthorn({"restore", outbox}, "split").end, exit_0);
    EXPECT_EQ(posthorn({"restore", inbox, "--inbox"}, "split").end, exit_0);
}

TEST_F(backup_of_services, are_listed_and_verified) {
    const auto shop = start_shop();
    const auto file = back_up("shop").first;
    const auto listed = posthorn({"backup", "list", "--folder", folder_.file("backups")}, "shop");
    EXPECT_EQ(listed.end, exit_0) << listed.err;
    EXPECT_THAT(listed.out, HasSubstr(file));
    const auto whole = run_process({POSTHORN_PROGRAM, "backup", "verify", file});
    EXPECT_EQ(whole.end, exit_0) << whole.err;
    EXPECT_THAT(whole.out, HasSubstr("is whole"));
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    const auto torn = run_process({POSTHORN_PROGRAM, "backup", "verify", file});
    EXPECT_EQ(torn.end, exit_1);
    EXPECT_THAT(torn.err, HasSubstr("is damaged"));
    shop->stop();
}

TEST(backups_of_a_node, are_made_at_intervals_and_counted) {
    const test::temporary_directory folder;
    sidecar node(folder, "orders",
                 std::string(free_ports) + "[backup]\nfolder = \"copies\"\nevery = \"1s\"\n");
    const auto count = [&] {
        std::error_code missing;
        std::size_t found = 0;
        for (const auto& each :
             std::filesystem::directory_iterator(folder.path() / "copies", missing))
            found += each.path().extension() == ".db" ? 1U : 0U;
        return found;
    };
    EXPECT_TRUE(test::eventually([&] { return count() >= 2; }));
    test::raw_http admin(static_cast<std::uint16_t>(std::stoi(node.port(1))));
    admin.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(admin.receive().body, testing::ContainsRegex("posthorn_backups_total [1-9]"));
    node.stop();
}

TEST(backups_of_a_node, that_fail_turn_its_health_yellow_with_the_reason) {
    const test::temporary_directory folder;
    std::ofstream(folder.file("copies")) << "a file where the folder should be";
    sidecar node(folder, "orders", std::string(free_ports) + "[backup]\nfolder = \"copies\"\n");
    ASSERT_TRUE(node.says("Backup: failed"));
    const auto health = [&] {
        test::raw_http admin(static_cast<std::uint16_t>(std::stoi(node.port(1))));
        admin.send("GET /_rf/health HTTP/1.1\r\nHost: localhost\r\n\r\n");
        return admin.receive();
    };
    ASSERT_TRUE(test::eventually(
        [&] { return health().body.find("the last backup failed") != std::string::npos; }));
    EXPECT_EQ(health().status, 200);
    EXPECT_THAT(health().body, HasSubstr("\"status\":\"yellow\""));
    node.stop();
}

}  // namespace
}  // namespace posthorn
