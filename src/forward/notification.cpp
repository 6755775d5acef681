#include "forward/notification.hpp"

#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

json::value text_or_null(const std::string& text) {
    return text.empty() ? json::value(nullptr) : json::value(text);
}

std::optional<json::object> read_object(std::string_view text) {
    boost::system::error_code wrong;
    auto read = json::parse(text, wrong);
    if (wrong || !read.is_object()) return std::nullopt;
    return std::move(read.as_object());
}

delivery not_accepted(std::string why) {
    return {.what = outcome::transient, .error = std::move(why)};
}

/// One that no attempt can mend: it is the site's own setting what becomes of it.
asked_outcome give_up_unreadable(const notification_options& options, const forward_message& work,
                                 const error& why, logger& log) {
    log.warn("Forward: notification {MessageId} cannot be read and is {What}: {Error}",
             {{"MessageId", work.id.to_string()},
              {"What", options.discard_unreadable ? "discarded" : "parked"},
              {"Error", why.what()}});
    if (options.discard_unreadable) return {.what = {.what = outcome::delivered}};
    return {.what = {.what = outcome::permanent, .error = why.what()}};
}

task<asked_outcome> submit(notification_options options, const peer_calls& peers, logger& log,
                           forward_message work) {
    auto made = stamp_notification(work, options.site);
    if (!made) co_return give_up_unreadable(options, work, made.error(), log);
    const auto id = made->id;
    // Each attempt is a question of its own: what the centre refused once it may take later.
    auto answer = co_await peers.ask({.service = options.centre,
                                      .endpoint = std::string(notification_submit),
                                      .payload = std::move(made->payload),
                                      .options = {.type = message_type::push_call}});
    co_return asked_outcome{.what = judge_notification_ack(std::move(answer), id)};
}

}  // namespace

result<submitted_notification> stamp_notification(const forward_message& work,
                                                  std::string_view site) {
    auto read = read_object(work.payload);
    if (!read)
        return fail(error_code::invalid_payload,
                    "the payload is not a NotificationSubmit: it is not a JSON object");
    auto id = work.id;
    if (const auto* const said = read->if_contains("NotificationId")) {
        const auto own = said->is_string() ? uuid::parse(said->as_string()) : std::nullopt;
        if (!own)
            return fail(error_code::invalid_payload,
                        "the payload is not a NotificationSubmit: its NotificationId is not an id");
        id = *own;
    }
    (*read)["NotificationId"] = id.to_string();
    (*read)["SourceSiteId"] = site;
    (*read)["SourceInstanceId"] = text_or_null(work.origin_instance);
    return submitted_notification{.id = id, .payload = json::serialize(*read)};
}

delivery judge_notification_ack(delivery answer, const uuid& id) {
    if (answer.what != outcome::delivered) return answer;
    const auto ack = read_object(answer.payload);
    if (!ack) return not_accepted("the centre's ack cannot be read");
    const auto* const named = ack->if_contains("NotificationId");
    const auto about =
        named != nullptr && named->is_string() ? uuid::parse(named->as_string()) : std::nullopt;
    if (about != id) return not_accepted("the centre's ack is about another notification");
    const auto* const accepted = ack->if_contains("Accepted");
    if (accepted != nullptr && accepted->is_bool() && accepted->as_bool())
        return {.what = outcome::delivered, .duplicate = answer.duplicate};
    const auto* const why = ack->if_contains("Error");
    return not_accepted(fmt::format("the centre does not accept it: {}",
                                    why != nullptr && why->is_string()
                                        ? clean_utf8(std::string_view(why->as_string()), 500)
                                        : std::string("it gives no reason")));
}

forward_asker make_notification_forwarder(notification_options options, const peer_calls& peers,
                                          logger& log) {
    return [options = std::move(options), &peers, &log](forward_message work) {
        return submit(options, peers, log, std::move(work));
    };
}

}  // namespace posthorn
