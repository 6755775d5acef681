#include "webhook/catalogue/known_events.hpp"

#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

using name_set = std::set<std::string, std::less<>>;

result<name_set> known_among(store_reader& from, const name_set& types) {
    name_set known;
    std::string sql = "SELECT name FROM webhook_event_types WHERE name IN (";
    for (std::size_t i = 0; i < types.size(); ++i) sql += i == 0 ? "?" : ", ?";
    sql += ")";
    const std::vector<sql_param> with(types.begin(), types.end());
    POSTHORN_TRY(from.query(sql, with, [&](const sql_row& row) { known.emplace(row.text(0)); }));
    return known;
}

}  // namespace

task<std::vector<delivery>> known_events::deliver(message_batch batch) {
    name_set types;
    for (const auto* const each : batch) types.insert(each->endpoint);
    name_set known;
    const auto looked = co_await read(where_, env_.readers, [&](store_reader& from) -> result<> {
        POSTHORN_LET(found, known_among(from, types));
        known = std::move(found);
        return {};
    });
    std::vector<delivery> answers(batch.size());
    message_batch through;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (!looked) {  // The event has not failed: the store has.
            answers[i] = {.what = outcome::unanswered, .error = looked.error().what()};
        } else if (known.contains(batch[i]->endpoint)) {
            through.push_back(batch[i]);
            places.push_back(i);
        } else {
            answers[i] = {
                .what = outcome::permanent,
                .error = fmt::format("type '{}' is not in the catalogue, and webhooks.strict is "
                                     "set; add it with 'posthorn webhooks type-set', then requeue",
                                     clean_utf8(batch[i]->endpoint, 100))};
        }
    }
    if (through.empty()) co_return answers;
    auto behind = co_await behind_.deliver(std::move(through));
    for (std::size_t i = 0; i < places.size(); ++i) answers[places[i]] = std::move(behind[i]);
    co_return answers;
}

}  // namespace posthorn
