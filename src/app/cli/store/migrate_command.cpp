#include <filesystem>
#include <ostream>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "app/cli/kit/command.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"
#include "app/cli/kit/progress.hpp"
#include "app/store/open_store.hpp"
#include "base/random.hpp"
#include "base/text/without_password.hpp"
#include "base/time/clock.hpp"
#include "base/uuid_generator.hpp"

namespace posthorn::cli {
namespace {

namespace json = boost::json;

std::string to_hex(std::int64_t hash) {
    return fmt::format("{:016x}", static_cast<std::uint64_t>(hash));
}

class migrate_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_place(options, "FROM", from_, "the database, as sqlite:PATH")->required();
        add_place(options, "TO", to_, "the server, as postgresql://USER@HOST/DATABASE");
        options.add_option("--schema", schema_, "the schema to copy into, empty or not there yet")
            ->capture_default_str()
            ->type_name("NAME");
        options.add_flag("--undo", undo_,
                         "let a node start on the database again; drop the copy first");
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn migrate sqlite:data/orders.db postgresql://orders@db/orders\n"
            "Stop the node first. Everything of Posthorn's is copied, in one transaction, and "
            "read\n"
            "back; then set store.url. Tables of your own are yours to copy, before the node "
            "starts.\n"
            "Cut off at any moment, it is run again. See docs/operating/scale-out.md.");
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(asked, read());
        if (undo_) return undo(asked, terminal);
        progress_bar bar(terminal, json_);
        asked.progress = [&](std::int64_t done, std::int64_t all, std::string_view table) {
            bar.show({done, all}, table);
        };
        const auto done = move_store(asked, clock_);
        bar.finish();
        if (!done) return std::unexpected(done.error());
        if (json_)
            print_json(terminal, to_json(*done));
        else
            print(*done, terminal);
        return {};
    }

private:
    [[nodiscard]] result<store_move> read() {
        constexpr std::string_view scheme = "sqlite:";
        if (!from_.starts_with(scheme) || from_.size() == scheme.size())
            return fail(error_code::invalid_argument,
                        "'{}' is not a database that can be moved; write sqlite:PATH",
                        without_password(from_));
        if (!is_server_url(to_) && !(undo_ && to_.empty()))
            return fail(error_code::invalid_argument,
                        "'{}' is no server to move to; write postgresql://USER@HOST/DATABASE",
                        without_password(to_));
        return store_move{.file = std::filesystem::absolute(from_.substr(scheme.size())).string(),
                          .to = {to_, schema_},
                          .id = ids_.next().to_string()};
    }

    result<> undo(const store_move& asked, const console& terminal) {
        POSTHORN_TRY(take_move_back(asked, clock_));
        if (json_)
            print_json(terminal, json::object{{"database", asked.file}, {"undone", true}});
        else
            terminal.out << fmt::format(
                "{} is a store again, as it was when it was moved{}\n", asked.file,
                to_.empty() ? "; make sure that no node starts on the copy" : "");
        return {};
    }

    [[nodiscard]] json::object to_json(const store_moved& done) const {
        json::array tables;
        for (const auto& one : done.tables)
            tables.push_back(
                json::object{{"table", one.name}, {"rows", one.rows}, {"hash", to_hex(one.hash)}});
        return {{"to", done.to},
                {"tables", std::move(tables)},
                {"left", json::array(done.left.begin(), done.left.end())},
                {"wasThere", done.was_there}};
    }

    void print(const store_moved& done, const console& terminal) const {
        if (done.was_there) terminal.out << "the copy was complete already\n";
        text_table table({"TABLE", "ROWS", "HASH"});
        for (const auto& one : done.tables)
            table.add({one.name, std::to_string(one.rows), to_hex(one.hash)});
        if (!done.tables.empty()) terminal.out << table.to_text();
        terminal.out << fmt::format("moved to {}; file and server have the same\n", done.to);
        if (!done.left.empty())
            terminal.out << fmt::format("not copied, since they are yours: {}\n",
                                        fmt::join(done.left, ", "));
        terminal.out << fmt::format(
            "next: set store.url{} in the configuration, and start the node\n",
            schema_ == config{}.store.schema ? "" : " and store.schema");
    }

    real_clock clock_;
    system_random random_;
    uuid_generator ids_{[this] { return clock_.wall(); }, random_};
    std::string from_;
    std::string to_;
    std::string schema_ = config{}.store.schema;
    bool undo_ = false;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_migrate_command() { return std::make_unique<migrate_command>(); }

}  // namespace posthorn::cli
