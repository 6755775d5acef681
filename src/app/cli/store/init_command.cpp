#include <cctype>
#include <filesystem>
#include <ostream>

#include <boost/json/object.hpp>

#include "app/cli/kit/command.hpp"
#include "app/cli/kit/database.hpp"
#include "app/cli/kit/files.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/config/config_type.hpp"
#include "app/store/open_store.hpp"
#include "base/text/without_password.hpp"
#include "base/time/clock.hpp"

namespace posthorn::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view starter =
    R"toml(# The configuration of a Posthorn node. What is not said here has its default;
# posthorn.example.toml and 'posthorn config show' list every key; 'posthorn config check' finds
# mistakes.

[service]
# The name by which other services know this one.
id = "{}"

[store]
# The service's own database, in which its business tables belong too.
url = "{}"
{}
[listen]
# Where other services reach this one, and where operators and their tools do.
http = "127.0.0.1:7400"
admin = "127.0.0.1:7401"

[routes]
# Where other services are.
#inventory = "http://127.0.0.1:7410"

[secrets]
# What this service shares with each of them; 'posthorn keys new --out inventory.keys' makes one.
#inventory = "file:inventory.keys"

[handlers]
# What takes the messages that come: SQL in the transaction that records them, a web service of
# yours, or a queue.
#OrderApproved = "sql:INSERT INTO approvals(order_id, by) VALUES (:orderId, :approvedBy)"
)toml";

// A folder's name is a good guess, without what a service id may not hold.
std::string guess_service() {
    std::error_code unusable;
    std::string name = fs::current_path(unusable).filename().string();
    std::erase_if(name,
                  [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_'; });
    return name.empty() ? "posthorn" : name;
}

bool fits_in_toml(std::string_view text) {
    return text.find_first_of("\"\\\n\r\t") == std::string_view::npos;
}

class init_command final : public command {
public:
    void declare(CLI::App& options) override {
        options
            .add_option("-c,--config", config_file_,
                        "the node's configuration, written if it is not there")
            ->capture_default_str()
            ->type_name("FILE");
        options.add_option("--database", database_, "the database (data/SERVICE.db)")
            ->type_name("FILE");
        options.add_option("--service", service_, "the service's id (the folder's name)")
            ->type_name("ID");
        options.add_option("--schema", schema_, "the schema on PostgreSQL (outbox)")
            ->type_name("NAME");
        options.add_flag("--sql", sql_,
                         "print the SQL that makes the tables on PostgreSQL, and do nothing else");
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn init --service orders\n"
            "Nothing that is there is overwritten; repeating it is safe.");
    }

    result<> run(const console& terminal) override {
        std::error_code unusable;
        const bool had_config = fs::exists(config_file_, unusable);
        if (sql_) return print_sql(had_config, terminal);
        if (!had_config) POSTHORN_TRY(write_starter());
        auto done = make(had_config, terminal);
        // Or repeating it with other words would find this one's configuration.
        if (!done && !had_config) fs::remove(config_file_, unusable);
        return done;
    }

private:
    struct outcome {
        std::string database;
        bool had_database;
        bool had_config;
    };

    result<> make(bool had_config, const console& terminal) {
        const database_choice chosen{.config_file = config_file_, .database = database_};
        POSTHORN_LET(settings, chosen.settings());
        if (had_config && !service_.empty() && service_ != settings.service.id)
            return fail(error_code::invalid_argument,
                        "{} is there already and says service.id = \"{}\"; edit it, or leave out "
                        "--service",
                        config_file_, settings.service.id);
        if (had_config && !schema_.empty() && schema_ != settings.store.schema)
            return fail(error_code::invalid_argument,
                        "{} is there already and says store.schema = \"{}\"; edit it, or leave out "
                        "--schema",
                        config_file_, settings.store.schema);

        if (settings.store.url.on_server) return make_on_server(settings, had_config, terminal);
        const fs::path database = settings.path_of(settings.store.url);
        std::error_code unusable;
        const bool had_database = fs::exists(database, unusable);
        POSTHORN_TRY(make_folder_of(database));
        POSTHORN_TRY(database_session::open(settings, database_session::if_missing::make));
        print({database.string(), had_database, had_config}, settings, terminal);
        return {};
    }

    /// For an application that makes its tables itself.
    result<> print_sql(bool has_config, const console& terminal) const {
        std::string schema = config{}.store.schema;
        if (has_config) {
            POSTHORN_LET(settings, load_config(config_file_));
            schema = settings.store.schema;
        }
        if (!schema_.empty()) schema = schema_;
        POSTHORN_LET(sql, server_definitions(schema));
        terminal.out << sql;
        return {};
    }

    result<> make_on_server(const config& settings, bool had_config,
                            const console& terminal) const {
        const server_database place{settings.path_of(settings.store.url), settings.store.schema};
        const bool had_tables = look_at_server(place, real_clock()).has_value();
        POSTHORN_TRY(database_session::open(settings, database_session::if_missing::make));
        print({config_type<database_url>::show(settings.store.url), had_tables, had_config},
              settings, terminal);
        return {};
    }

    [[nodiscard]] result<> write_starter() const {
        const std::string service = service_.empty() ? guess_service() : service_;
        std::string database = "data/{service}.db";
        std::string scheme = "sqlite:";
        if (is_server_url(database_)) {
            database = database_;
            scheme.clear();
        } else if (!database_.empty()) {  // The configuration counts paths from its own folder.
            POSTHORN_TRY(require_path(database_));
            const auto folder = fs::absolute(config_file_).parent_path();
            database = fs::absolute(database_).lexically_proximate(folder).string();
        }
        if (!fits_in_toml(service) || !fits_in_toml(database) || !fits_in_toml(schema_))
            return fail(error_code::invalid_argument,
                        "the service's id, the database's path and the schema must do without "
                        "quotes, backslashes and line ends");
        if (!schema_.empty() && !is_server_url(database_))
            return fail(error_code::invalid_argument,
                        "a schema is for a database on a server; say --database postgresql://...");
        const auto schema = schema_.empty() ? "" : fmt::format("schema = \"{}\"\n", schema_);
        const auto text = fmt::format(fmt::runtime(starter), service, scheme + database, schema);
        POSTHORN_TRY(parse_config(text, config_file_));  // Rather than leave a file that is wrong.
        const bool has_password = without_password(database) != database;
        return write_new_file(config_file_, text,
                              {.mode = static_cast<mode_t>(has_password ? 0600 : 0644)});
    }

    void print(const outcome& done, const config& settings, const console& terminal) const {
        if (json_) {
            print_json(terminal, boost::json::object{{"service", settings.service.id},
                                                     {"config", config_file_},
                                                     {"configCreated", !done.had_config},
                                                     {"database", done.database},
                                                     {"databaseCreated", !done.had_database}});
            return;
        }
        terminal.out << fmt::format(
            "{} {}\n{} {}\nnext:\n{}"
            "  posthorn serve --config {}\n"
            "  posthorn send DESTINATION ENDPOINT PAYLOAD --config {}\n",
            done.had_config ? "kept " : "wrote", config_file_,
            done.had_database ? "ready, was there:" : "made ", done.database,
            settings.routes.empty()
                ? fmt::format(
                      "  name the services it talks to under [routes] and [secrets] of {}\n",
                      config_file_)
                : std::string{},
            config_file_, config_file_);
    }

    std::string config_file_ = config_file_default;
    std::string database_;
    std::string service_;
    std::string schema_;
    bool sql_ = false;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_init_command() { return std::make_unique<init_command>(); }

}  // namespace posthorn::cli
