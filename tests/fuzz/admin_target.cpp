#include "fuzz/admin_target.hpp"

#include <array>
#include <string>
#include <vector>

#include <boost/json/parse.hpp>

#include "admin/admin_api.hpp"
#include "base/async/virtual_loop.hpp"
#include "base/random.hpp"
#include "base/text/utf8.hpp"
#include "base/uuid_generator.hpp"
#include "fuzz/promise.hpp"
#include "operations/dead_requests.hpp"
#include "operations/query.hpp"
#include "store/async.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn {
namespace {

using fuzz::demand;

struct known_row {
    std::string id;
    std::string status;
    std::string destination;
    std::string endpoint;
    std::string tenant;
    std::string order_key;
    std::string error;
};

/// A database with rows of every kind, and the admin routes over it.
class admin_side {
public:
    admin_side() {
        database_ = value_or_throw(sqlite::open(
            {.path = folder_.file("orders.db"), .service = "orders", .above = {audit_tables()}},
            {.time = loop_.time(), .writer = inline_, .log = log_}));
        node_.emplace(node_view_deps{.service = "orders",
                                     .version = "1",
                                     .stores = {database_.get()},
                                     .readers = inline_,
                                     .time = loop_.time(),
                                     .counters = {&counters_}});
        audit_.emplace(*database_, loop_.time(), log_);
        gate_.emplace(access_, *audit_);
        admin_surface surface(routes_, *gate_);
        add_admin_routes(surface, *node_);
        for (int i = 0; i < 12; ++i) add(i);
    }
    ~admin_side() { database_->stop(); }
    admin_side(const admin_side&) = delete;
    admin_side& operator=(const admin_side&) = delete;

    http_response ask(std::string path, std::string_view query) {
        http_request request{.method = "GET",
                             .path = std::move(path),
                             .query = std::string(query),
                             .headers = {},
                             .body = {}};
        request.headers.add("Host", "localhost");
        return loop_.run(routes_.handle(std::move(request)));
    }
    [[nodiscard]] const std::vector<known_row>& rows() const { return rows_; }
    wall_time now() { return loop_.time().wall(); }

private:
    void add(int i) {
        constexpr std::array<std::string_view, 4> states{"Dead", "Expired", "Resolved", "Pending"};
        constexpr std::array<std::string_view, 3> errors{"no answer", "<b>50%_'off'</b>", "ÄRGER"};
        const auto pick = [i](const auto& from) {
            return std::string(from[static_cast<std::size_t>(i) % from.size()]);
        };
        message body;
        body.id = ids_.next();
        body.destination = i % 2 == 0 ? "stock" : "b%";
        body.endpoint = i % 3 == 0 ? "Take" : "take";
        body.tenant = i % 4 == 0 ? "" : "north";
        body.order_key = i % 5 == 0 ? "k'1" : "";
        body.payload = "{}";
        body.created_at = now();
        body.expires_at = now() + std::chrono::hours{24};
        const auto status = pick(states), error = pick(errors), id = body.id.to_string();
        value_or_throw(loop_.run(commit(*database_, [&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.outbox().insert(body));
            const std::array<sql_param, 3> values{std::string_view(status), std::string_view(error),
                                                  std::string_view(id)};
            POSTHORN_TRY(
                tx.execute("UPDATE outbox_messages SET status = ?, last_error = ?"
                           " WHERE message_id = ?",
                           values));
            return {};
        })));
        rows_.push_back(
            {id, status, body.destination, body.endpoint, body.tenant, body.order_key, error});
    }

    test::temporary_directory folder_;
    virtual_loop loop_;
    inline_executor inline_;
    logger log_{{.sink = [](std::string_view) {}}, [] { return wall_time{}; }};
    seeded_random random_{3};
    uuid_generator ids_{[this] { return now(); }, random_};
    std::unique_ptr<store> database_;
    outbox_counters counters_;
    admin_access access_{{.loopback = true}};
    std::optional<node_view> node_;
    std::optional<audit> audit_;
    std::optional<key_gate> gate_;
    router routes_;
    std::vector<known_row> rows_;
};

std::string lower(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    return text;
}

bool is(const std::string& wanted, const std::string& value) {
    return wanted.empty() || wanted == value;
}

/// Ids of a page, newest first; nothing if it was refused as it should be.
std::optional<std::vector<std::string>> page_of(const http_response& response) {
    boost::json::error_code failure;
    const auto body = boost::json::parse(response.body, failure);
    demand(!failure && body.is_object(), "an answer is JSON");
    demand(response.headers.find("content-type") == "application/json", "and says so");
    if (response.status != 200) {
        demand(response.status == 400 && body.as_object().contains("error"),
               "a question that is none is refused with a code");
        return std::nullopt;
    }
    std::vector<std::string> ids;
    for (const auto& row : body.at("messages").as_array())
        ids.emplace_back(row.at("messageId").as_string());
    return ids;
}

void ask_for_dead(admin_side& side, std::string_view query) {
    const auto asked = parse_dead_query(query, side.now());
    const auto page = page_of(side.ask("/_rf/dead", query));
    demand(asked.has_value() == page.has_value(), "what can be read is answered");
    if (!page) return demand(asked.error().code() == error_code::invalid_argument, "by its code");
    demand(page->size() <= asked->limit && asked->limit <= list_rows_max, "a page has its limit");
    const auto& wanted = asked->wanted;
    // Where a page begins, the time of a row and its group are the store's own business.
    if (asked->before > 0 || wanted.cause > 0 || wanted.since || wanted.until) return;
    std::vector<std::string> expected;
    for (auto row = side.rows().rbegin(); row != side.rows().rend(); ++row)
        if (row->status == to_string(wanted.status) && is(wanted.destination, row->destination) &&
            is(wanted.endpoint, row->endpoint) && is(wanted.tenant, row->tenant) &&
            is(wanted.order_key, row->order_key) &&
            lower(row->error).find(lower(wanted.error)) != std::string::npos &&
            wanted.correlation_id.empty() && wanted.causation_id.empty())  // None has one.
            expected.push_back(row->id);
    if (expected.size() > asked->limit) expected.resize(asked->limit);
    demand(*page == expected, "a filter finds what it says, and nothing else");
}

void ask_for_outbox(admin_side& side, std::string_view query) {
    const auto asked = parse_list_query(query, side.now());
    const auto page = page_of(side.ask("/_rf/outbox", query));
    demand(asked.has_value() == page.has_value(), "what can be read is answered");
    if (!page || asked->before > 0 || asked->since || asked->until) return;
    std::vector<std::string> expected;
    for (auto row = side.rows().rbegin(); row != side.rows().rend(); ++row)
        if ((!asked->status || row->status == to_string(*asked->status)) &&
            is(asked->destination, row->destination) && is(asked->endpoint, row->endpoint) &&
            is(asked->tenant, row->tenant) && is(asked->order_key, row->order_key) &&
            lower(row->error).find(lower(asked->error)) != std::string::npos &&
            asked->correlation_id.empty() && asked->causation_id.empty())  // None has one.
            expected.push_back(row->id);
    if (expected.size() > asked->limit) expected.resize(asked->limit);
    demand(*page == expected, "a list is what was asked for");
}

void change(dead_verb verb, std::string_view body) {
    const auto asked = parse_dead_request(verb, body);
    if (!asked)
        return demand(asked.error().code() == error_code::malformed_request ||
                          asked.error().code() == error_code::invalid_argument,
                      "a body that is none has its error");
    demand(asked->verb == verb, "a body does not change the verb");
    demand(asked->edit.empty() == (verb != dead_verb::edit), "only an edit edits");
    demand(asked->how.resolution.empty() == (verb != dead_verb::resolve) &&
               asked->how.resolution.size() <= 4000,
           "only what is resolved has a reason, and a short one");
    demand(!asked->how.new_id || verb == dead_verb::requeue || asked->then_requeue,
           "only what is requeued has a new id");
    demand(!asked->edit.max_retries || *asked->edit.max_retries >= -1, "retries are in range");
}

}  // namespace

void fuzz_admin(const std::uint8_t* data, std::size_t size) {
    static admin_side side;
    auto rest = fuzz::text_of(data, size);
    const auto query = fuzz::take_until(rest, '\n');
    ask_for_dead(side, query);
    ask_for_outbox(side, query);
    (void)parse_show_query(query);
    for (const auto verb : {dead_verb::requeue, dead_verb::resolve, dead_verb::remove,
                            dead_verb::reopen, dead_verb::edit})
        change(verb, rest);
}

}  // namespace posthorn
