#include "app/cli/demo/demo_world.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <system_error>

#include "app/cli/keys/keys_command.hpp"
#include "app/cli/kit/database.hpp"
#include "app/cli/kit/files.hpp"
#include "app/config/config.hpp"

namespace posthorn::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view orders_config = R"toml([service]
id = "orders"
[store]
url = "sqlite:orders.db"
[listen]
http = ""
admin = ""
[routes]
stock = "unix://{0}/stock.sock"
[secrets]
stock = "file:shared.keys"
[outbox]
# Quick, so that a short show has many retries in it.
retry_delay_base = "50ms"
retry_delay_max = "500ms"
jitter_max = "20ms"
max_retries = -1
[log]
level = "warn"
)toml";

constexpr std::string_view stock_config = R"toml([service]
id = "stock"
[store]
url = "sqlite:stock.db"
[listen]
http = ""
admin = ""
unix = "{0}/stock.sock"
[secrets]
orders = "file:shared.keys"
[handlers]
OrderPlaced = "sql:INSERT INTO reservations(order_id, item, quantity) VALUES (:orderId, :item, :quantity)"
[log]
level = "warn"
)toml";

// Nothing in the receiver's table keeps a second row for an order out: only Posthorn does.
constexpr auto orders_table =
    "CREATE TABLE orders(id TEXT PRIMARY KEY, item TEXT NOT NULL, quantity INTEGER NOT NULL)";
constexpr auto stock_table =
    "CREATE TABLE reservations(number INTEGER PRIMARY KEY, order_id TEXT NOT NULL,"
    " item TEXT NOT NULL, quantity INTEGER NOT NULL)";

std::string_view name_of(demo_world::service which) {
    return which == demo_world::service::orders ? "orders" : "stock";
}

result<fs::path> make_folder() {
    const char* const chosen = std::getenv("TMPDIR");
    std::string name = (fs::path(chosen != nullptr ? chosen : "/tmp") / "posthorn-demo-XXXXXX");
    if (::mkdtemp(name.data()) == nullptr)  // With mode 0700.
        return fail(error_code::io_failed, "cannot make a folder {}: {}", name,
                    std::generic_category().message(errno));
    return fs::path(name);
}

result<sqlite::connection> make_database(const fs::path& config_file, const char* table) {
    POSTHORN_LET(settings, load_config(config_file));
    {
        POSTHORN_TRY(database_session::open(settings, database_session::if_missing::make));
    }
    auto opened = sqlite::connection::open({.path = settings.path_of(settings.store.url)});
    if (!opened) return opened;
    POSTHORN_TRY(opened->execute(table));
    return opened;
}

std::string last_line_of(const fs::path& file) {
    std::ifstream lines(file);
    std::string last = "its log is empty";
    for (std::string line; std::getline(lines, line);)
        if (!line.empty()) last = line;
    return last;
}

std::int64_t lines_with(const fs::path& file, std::string_view word) {
    std::ifstream lines(file);
    std::int64_t count = 0;
    for (std::string line; std::getline(lines, line);)
        if (line.find(word) != std::string::npos) ++count;
    return count;
}

}  // namespace

result<std::unique_ptr<demo_world>> demo_world::make() {
    std::unique_ptr<demo_world> made(new demo_world);
    POSTHORN_LET(folder, make_folder());
    made->folder_ = std::move(folder);
    POSTHORN_TRY(made->write_files());
    POSTHORN_TRY(made->make_databases());
    return made;
}

result<> demo_world::write_files() const {
    const auto place = folder_.string();
    POSTHORN_TRY(
        write_new_file(folder_ / "orders.toml", fmt::format(fmt::runtime(orders_config), place)));
    POSTHORN_TRY(
        write_new_file(folder_ / "stock.toml", fmt::format(fmt::runtime(stock_config), place)));
    system_random random;
    return write_new_file(folder_ / "shared.keys", to_base64_text(make_secret(random)) + '\n');
}

result<> demo_world::make_databases() {
    POSTHORN_LET(orders, make_database(folder_ / "orders.toml", orders_table));
    POSTHORN_LET(stock, make_database(folder_ / "stock.toml", stock_table));
    orders_.emplace(std::move(orders));
    stock_.emplace(std::move(stock));
    return {};
}

fs::path demo_world::log_of(service which) const {
    return folder_ / fmt::format("{}.log", name_of(which));
}

result<> demo_world::start(service which) {
    POSTHORN_LET(started,
                 child_process::start({"serve", "--config",
                                       (folder_ / fmt::format("{}.toml", name_of(which))).string()},
                                      log_of(which)));
    child(which).emplace(std::move(started));
    return {};
}

void demo_world::kill(service which) {
    child(which).reset();
    ++kills_;
}

result<> demo_world::check_alive() {
    for (const auto which : {service::orders, service::stock})
        if (child(which) && child(which)->has_ended())
            return fail(error_code::closed, "{} ended by itself: {}", name_of(which),
                        last_line_of(log_of(which)));
    return {};
}

void demo_world::stop() {
    for (const auto& each : children_)
        if (each) each->send_signal(SIGTERM);
}

bool demo_world::has_stopped() {
    bool all = true;
    for (auto& each : children_) all = (!each || each->has_ended()) && all;
    return all;
}

// What any program in any language would do.
result<> demo_world::place_order() {
    const auto number = made_ + 1;
    const auto sql = fmt::format(
        "BEGIN IMMEDIATE;"
        "INSERT INTO orders(id, item, quantity) VALUES ('o{0}', 'lamp', {1});"
        "INSERT INTO outbox_messages(destination, endpoint, payload, max_retries) VALUES ('stock',"
        " 'OrderPlaced', '{{\"orderId\":\"o{0}\",\"item\":\"lamp\",\"quantity\":{1}}}', -1);"
        "COMMIT",
        number, 1 + number % 5);
    if (auto placed = orders_->execute(sql.c_str()); !placed) {
        const auto undone = orders_->execute("ROLLBACK");  // Fails if there is nothing to undo.
        static_cast<void>(undone);
        return placed;
    }
    made_ = number;
    return {};
}

result<demo_counts> demo_world::count() {
    demo_counts counts{.made = made_, .kills = kills_};
    POSTHORN_LET(delivered,
                 orders_->integer("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'"));
    counts.delivered = delivered;

    std::map<std::string, std::int64_t, std::less<>> rows;  // By order.
    POSTHORN_LET(reserved,
                 stock_->prepare("SELECT order_id, count(*) FROM reservations GROUP BY order_id"));
    auto more = reserved.step();
    for (; more && *more; more = reserved.step())
        rows.emplace(reserved.text(0), reserved.integer(1));
    if (!more) return std::unexpected(std::move(more).error());

    POSTHORN_LET(placed, orders_->prepare("SELECT id FROM orders"));
    std::int64_t orders = 0;
    more = placed.step();
    for (; more && *more; more = placed.step(), ++orders) {
        const auto found = rows.find(placed.text(0));
        if (found == rows.end()) ++counts.missing;
        if (found != rows.end() && found->second > 1) ++counts.doubled;
    }
    if (!more) return std::unexpected(std::move(more).error());
    for (const auto& [id, number] : rows) counts.effects += number;
    counts.made = orders;
    counts.duplicates = lines_with(log_of(service::stock), "Duplicate ");
    return counts;
}

void demo_world::remove() const {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

}  // namespace posthorn::cli
