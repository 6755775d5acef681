#include "notes/notes_feature.hpp"

#include <array>
#include <atomic>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/async/run_on.hpp"
#include "feature/answers.hpp"
#include "feature/node_builder.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

// [tables]
constexpr std::array in_file{migration{1,
                                       "CREATE TABLE IF NOT EXISTS posthorn_notes ("
                                       " seq INTEGER PRIMARY KEY AUTOINCREMENT,"
                                       " text TEXT NOT NULL)"}};
constexpr std::array on_server{migration{1,
                                         "CREATE TABLE {s}.posthorn_notes ("
                                         " seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
                                         " text text NOT NULL)"}};

// How `posthorn migrate` copies it from a file to a server.
using column = copied_table::column;
constexpr std::array columns{column{"seq", column::kind::number}, column{"text"}};
constexpr std::array copied{
    copied_table{.name = "posthorn_notes", .columns = columns, .numbered_by = "seq"}};
// [/tables]

result<std::int64_t> count(store& where) {
    std::int64_t found = 0;
    POSTHORN_TRY(where.read([&](store_reader& from) {
        return from.query("SELECT count(*) FROM posthorn_notes", {},
                          [&](const sql_row& row) { found = row.integer(0); });
    }));
    return found;
}

// [service]
/// Counts the notes now and then, so that metrics and health need not ask the database.
class notes_counter final : public node_service {
public:
    notes_counter(store& where, const environment& env, std::chrono::milliseconds every)
        : where_(where), env_(env), every_(every) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "notes counter"; }

    task<> run() override {
        do {
            const auto seen = co_await run_on(env_.readers, [this] { return count(where_); });
            if (seen) notes_ = *seen;
        } while (co_await env_.timer.sleep_for(every_));
    }

    [[nodiscard]] std::int64_t notes() const noexcept { return notes_; }

private:
    store& where_;
    const environment& env_;
    std::chrono::milliseconds every_;
    std::atomic<std::int64_t> notes_ = 0;
};
// [/service]

// [routes]
task<http_response> list(store& where, executor& readers) {
    json::array notes;
    const auto read = co_await run_on(readers, [&] {
        return where.read([&](store_reader& from) {
            return from.query(
                "SELECT seq, text FROM posthorn_notes ORDER BY seq LIMIT 1000", {},
                [&](const sql_row& row) {
                    notes.push_back(json::object{{"seq", row.integer(0)}, {"text", row.text(1)}});
                });
        });
    });
    if (!read) co_return answer_to_error(read.error());
    co_return json_response(200, json::serialize(json::object{{"notes", std::move(notes)}}));
}

task<http_response> add(store& where, http_request request) {
    boost::system::error_code wrong;
    const auto body = json::parse(request.body, wrong);
    const auto* const fields = wrong ? nullptr : body.if_object();
    const auto* const text = fields ? fields->if_contains("text") : nullptr;
    if (text == nullptr || !text->is_string() || text->as_string().empty())
        co_return answer_to_error({error_code::invalid_argument, "give the note's text"});
    const std::array<sql_param, 1> with{std::string_view(text->as_string())};
    const auto done = co_await commit(where, [&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.execute("INSERT INTO posthorn_notes (text) VALUES (?)", with));
        return {};
    });
    if (!done) co_return answer_to_error(done.error());
    co_return json_response(200, R"({"added":true})");
}
// [/routes]

// [commands]
constexpr std::array list_columns{feature_column{"NOTE", "seq"}, feature_column{"TEXT", "text"}};
constexpr std::array add_options{
    feature_option{.name = "text", .doc = "what it says", .where = feature_option::place::body}};
constexpr std::array note_commands{
    feature_command{.name = "list",
                    .summary = "list the notes",
                    .method = "GET",
                    .path = "/_rf/notes",
                    .list = "notes",
                    .columns = list_columns,
                    .example = "posthorn notes list"},
    feature_command{.name = "add",
                    .summary = "leave a note",
                    .method = "POST",
                    .path = "/_rf/notes",
                    .options = add_options,
                    .example = "posthorn notes add --text 'stock is down until noon'"},
};
// [/commands]

// [feature]
constexpr std::array note_keys{
    feature_key{"count_every", "how often the notes are counted",
                [] { return feature_value(std::chrono::milliseconds(1000)); }},
    feature_key{"worry_above", "with more notes than this health is yellow",
                [] { return feature_value(std::int64_t{100}); }},
};

class notes final : public feature {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "notes"; }
    [[nodiscard]] table_set tables() const noexcept override {
        return {{"notes", in_file}, {"notes", on_server}, copied};
    }
    [[nodiscard]] std::span<const feature_key> keys() const noexcept override { return note_keys; }
    [[nodiscard]] std::string_view summary() const noexcept override {
        return "leave notes for other operators, and read them";
    }
    [[nodiscard]] std::span<const feature_command> commands() const noexcept override {
        return note_commands;
    }

    result<> install(node_builder& into) const override {
        auto& where = into.database();
        auto& readers = into.env().readers;
        const auto& counter = into.run(std::make_unique<notes_counter>(
            where, into.env(), into.settings().get<std::chrono::milliseconds>("count_every")));
        into.add(admin_route{
            "GET",
            "/_rf/notes",
            admin_role::viewer,
            {.summary = "The notes.", .answer = "{notes: [{seq: integer, text: string}]}"},
            [&](const http_request&, const admin_caller&) { return list(where, readers); }});
        into.add(admin_route{
            "POST",
            "/_rf/notes",
            admin_role::operator_,
            {.summary = "Leaves a note.", .answer = "{added: boolean}", .body = "{text: string}"},
            [&](http_request request, const admin_caller&) {
                return add(where, std::move(request));
            }});
        into.metrics([&](prometheus_text& text) {
            text.gauge("posthorn_notes", "Notes of operators.",
                       static_cast<double>(counter.notes()));
        });
        const auto most = into.settings().get<std::int64_t>("worry_above");
        into.health([&counter, most]() -> std::vector<health_worry> {
            if (counter.notes() <= most) return {};
            return {{health_level::yellow, "there are many notes; read and delete some"}};
        });
        return {};
    }
};

}  // namespace

const feature& notes_feature() noexcept {
    static const notes one;
    return one;
}
// [/feature]

}  // namespace posthorn
