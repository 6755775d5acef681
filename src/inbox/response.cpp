#include "inbox/response.hpp"

#include <utility>

#include "message/json_check.hpp"

namespace posthorn {

result<> send_response(store_transaction& tx, const message_maker& maker, const message& asked,
                       std::string_view response) {
    if (asked.type != message_type::command) return {};
    if (response.empty() && !maker.defaults().may_send) return {};
    const std::string_view said = response.empty() ? std::string_view("null") : response;
    send_options options{.type = message_type::response};
    // The caller finds its Command again by this, whichever of the two it kept.
    options.correlation_id =
        asked.correlation_id.empty() ? asked.id.to_string() : asked.correlation_id;
    if (!check_json(said)) options.content_type = "text/plain";
    POSTHORN_LET(made, maker.make({.destination = asked.source,
                                   .endpoint = asked.endpoint,
                                   .payload = std::string(said),
                                   .options = std::move(options)},
                                  &asked));
    POSTHORN_TRY(tx.outbox().insert(std::move(made)));
    return {};
}

}  // namespace posthorn
