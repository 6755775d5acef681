#include "webhook/routes/type_routes.hpp"

#include <array>
#include <utility>

#include <boost/json/array.hpp>

#include "base/text/utf8.hpp"
#include "feature/answers.hpp"
#include "store/async.hpp"
#include "webhook/catalogue/event_type.hpp"
#include "webhook/routes/route_kit.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::array type_shapes{
    named_shape{"EventType",
                "{name: string, createdAt: time, description?: string, schema?: any, example?: any,"
                " updatedAt?: time}"}};

task<http_response> list(const webhook_desk& with) {
    json::array shown;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(all, read_event_types(from));
            for (const auto& each : all) shown.push_back(to_json(each));
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    co_return answer_with({{"types", std::move(shown)}, {"strict", with.strict}});
}

task<http_response> put(const webhook_desk& with, http_request request) {
    const auto said = read_event_type(request.body);
    if (!said) co_return answer_to_error(said.error());
    const auto now = with.env.clock.wall();
    const auto stored = co_await commit(
        with.where, [&](store_transaction& tx) { return put_event_type(tx, *said, now); });
    if (!stored) co_return answer_to_error(stored.error());
    std::optional<event_type> became;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(found, find_event_type(from, said->name));
            became = std::move(found);
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    co_return answer_with(to_json(became ? *became : *said));
}

task<http_response> remove(const webhook_desk& with, http_request request) {
    const auto name = request.parameters.at("name");
    bool was_there = false;
    const auto done = co_await commit(with.where, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(gone, delete_event_type(tx, name));
        was_there = gone;
        return {};
    });
    if (!done) co_return answer_to_error(done.error());
    if (!was_there)
        co_return answer_to_error(
            {error_code::not_found,
             fmt::format("there is no type '{}' in the catalogue", clean_utf8(name, 100))});
    co_return answer_with({{"name", clean_utf8(name, 256)}, {"removed", true}});
}

}  // namespace

std::vector<admin_route> type_routes(const webhook_desk& with) {
    return {
        {"GET",
         "/_rf/webhooks/types",
         admin_role::viewer,
         {.summary = "The catalogue of event types.",
          .answer = "{types: [EventType], strict: boolean}",
          .shapes = type_shapes},
         [&with](http_request /*request*/, admin_caller /*who*/) { return list(with); }},
        {"POST",
         "/_rf/webhooks/types",
         admin_role::operator_,
         {.summary = "Adds a type to the catalogue, or replaces it.",
          .answer = "EventType",
          .body = "{name: string, description?: string, schema?: any, example?: any}",
          .shapes = type_shapes},
         [&with](http_request request, admin_caller /*who*/) {
             return put(with, std::move(request));
         }},
        {"POST",
         "/_rf/webhooks/types/{name}/remove",
         admin_role::operator_,
         {.summary = "Takes a type out of the catalogue; events and subscriptions stay.",
          .answer = "{name: string, removed: boolean}"},
         [&with](http_request request, admin_caller /*who*/) {
             return remove(with, std::move(request));
         }},
    };
}

}  // namespace posthorn
