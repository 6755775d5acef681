#include "webhook/routes/webhook_commands.hpp"

#include <array>

namespace posthorn {
namespace {

using place = feature_option::place;

constexpr std::array list_columns{feature_column{"ID", "id"},
                                  feature_column{"STATE", "state"},
                                  feature_column{"EVENTS", "eventType"},
                                  feature_column{"TENANT", "tenant"},
                                  feature_column{"URL", "url"},
                                  feature_column{"REASON", "reason"}};
constexpr std::array endpoint_columns{feature_column{"ID", "id"},
                                      feature_column{"HEALTH", "health"},
                                      feature_column{"WAITING", "waiting"},
                                      feature_column{"OLDEST", "oldestWaitingSince"},
                                      feature_column{"TAKEN/MIN", "deliveredPerMinute"},
                                      feature_column{"FAILED/MIN", "failedPerMinute"},
                                      feature_column{"DEAD", "dead"},
                                      feature_column{"HTTP", "lastHttpStatus"},
                                      feature_column{"URL", "url"}};
constexpr std::array delivery_columns{
    feature_column{"AT", "at"},           feature_column{"STATE", "state"},
    feature_column{"ATTEMPT", "attempt"}, feature_column{"HTTP", "httpStatus"},
    feature_column{"MS", "tookMs"},       feature_column{"EVENT", "messageId"},
    feature_column{"ERROR", "error"}};
constexpr std::array attempt_columns{
    feature_column{"ATTEMPT", "attempt"}, feature_column{"SUBSCRIPTION", "subscription"},
    feature_column{"AT", "at"},           feature_column{"STATE", "state"},
    feature_column{"HTTP", "httpStatus"}, feature_column{"MS", "tookMs"},
    feature_column{"ERROR", "error"}};
constexpr feature_option which{.name = "id", .doc = "its id, from the list", .where = place::path};
constexpr std::array which_options{which};
constexpr feature_option url_option{.name = "url",
                                    .doc = "where requests go: https://host/path",
                                    .where = place::body,
                                    .word = "to"};
constexpr feature_option type_option{
    .name = "eventType", .doc = "order.paid, order.* or *", .where = place::body, .word = "type"};
constexpr feature_option style_option{
    .name = "style", .doc = "signatures: standard, outbox or both", .where = place::body};
constexpr feature_option form_option{
    .name = "form", .doc = "bodies: envelope, raw or thin", .where = place::body};
constexpr feature_option retries_option{.name = "maxRetries",
                                        .doc = "how often a delivery is tried again",
                                        .where = place::body,
                                        .number = true,
                                        .word = "max-retries"};
constexpr feature_option timeout_option{.name = "timeoutSeconds",
                                        .doc = "how long a request may take",
                                        .where = place::body,
                                        .number = true,
                                        .word = "timeout-seconds"};
constexpr feature_option headers_option{
    .name = "headers", .doc = "more headers, as a JSON object", .where = place::body};
constexpr feature_option filter_option{
    .name = "filter", .doc = R"(which events: {"/data/country": ["DE"]})", .where = place::body};
constexpr feature_option text_option{
    .name = "description", .doc = "for people", .where = place::body};
constexpr feature_option secret_option{
    .name = "secret",
    .doc = "theirs, or ed25519 for a key pair; a new one unless given",
    .where = place::body};
constexpr std::array add_options{
    url_option,
    type_option,
    feature_option{
        .name = "tenant", .doc = "whose events; those of all unless given", .where = place::body},
    secret_option,
    style_option,
    form_option,
    retries_option,
    timeout_option,
    headers_option,
    filter_option,
    text_option};
constexpr std::array edit_options{which,         url_option,     type_option,    style_option,
                                  form_option,   retries_option, timeout_option, headers_option,
                                  filter_option, text_option};
constexpr std::array rotate_options{which, secret_option};
constexpr std::array delivery_options{
    which, feature_option{
               .name = "limit", .doc = "how many, at most 1000; 50 unless given", .number = true}};

constexpr std::array endpoint_options{
    feature_option{.name = "state",
                   .doc = "only those that are failing, disabled, paused, delivering or quiet"},
    feature_option{.name = "tenant", .doc = "only those of this tenant"},
    feature_option{.name = "text", .doc = "only with this in the URL, events or description"},
    feature_option{
        .name = "limit", .doc = "how many, at most 1000; 100 unless given", .number = true}};
constexpr std::array test_options{
    which, feature_option{.name = "eventType",
                          .doc = "send the example of this type of the catalogue",
                          .where = place::body,
                          .word = "type"}};
constexpr std::array type_columns{feature_column{"TYPE", "name"},
                                  feature_column{"DESCRIPTION", "description"}};
constexpr std::array type_options{
    feature_option{.name = "name", .doc = "such as order.paid", .where = place::body},
    feature_option{.name = "description", .doc = "for subscribers", .where = place::body},
    feature_option{.name = "schema",
                   .doc = "a JSON Schema of the payload",
                   .where = place::body,
                   .word = "json-schema"},
    feature_option{
        .name = "example", .doc = "a payload, which tests send, in JSON", .where = place::body}};
constexpr std::array event_options{
    feature_option{.name = "event", .doc = "its id", .where = place::path}};
constexpr std::array attempt_options{
    feature_option{.name = "event", .doc = "its id", .where = place::path},
    feature_option{
        .name = "limit", .doc = "how many, at most 1000; 50 unless given", .number = true}};
constexpr std::array type_name_options{
    feature_option{.name = "name", .doc = "such as order.paid", .where = place::path}};
constexpr std::array missed_options{
    which, feature_option{.name = "since", .doc = "published at this time or later, in ISO 8601"},
    feature_option{.name = "until", .doc = "published before this time"}};
constexpr std::array recover_options{
    which,
    feature_option{.name = "what",
                   .doc = "failed (the default), or missing: events of which it has no delivery",
                   .where = place::body},
    feature_option{.name = "since",
                   .doc = "published at this time or later, in ISO 8601; missing ones since it was "
                          "made, unless given",
                   .where = place::body},
    feature_option{.name = "until", .doc = "published before this time", .where = place::body}};

constexpr std::array token_options{
    feature_option{.name = "tenant", .doc = "whose endpoints", .where = place::body},
    feature_option{.name = "rights", .doc = "read, or read,write", .where = place::body},
    feature_option{.name = "forSeconds",
                   .doc = "how long, at most a day; 3600 unless given",
                   .where = place::body,
                   .number = true,
                   .word = "for-seconds"}};

constexpr feature_command turn(std::string_view name, std::string_view summary,
                               std::string_view path, std::string_view example) {
    return {.name = name,
            .summary = summary,
            .method = "POST",
            .path = path,
            .options = which_options,
            .example = example};
}

constexpr std::array commands_of_it{
    feature_command{.name = "list",
                    .summary = "list subscriptions",
                    .method = "GET",
                    .path = "/_rf/webhooks",
                    .list = "subscriptions",
                    .columns = list_columns,
                    .example = "posthorn webhooks list"},
    feature_command{.name = "endpoints",
                    .summary = "tell how their endpoints do and what waits for each, those that "
                               "fail first",
                    .method = "GET",
                    .path = "/_rf/webhooks/endpoints",
                    .options = endpoint_options,
                    .list = "endpoints",
                    .columns = endpoint_columns,
                    .example = "posthorn webhooks endpoints --state failing"},
    feature_command{.name = "add",
                    .summary = "add a subscription; its secret is shown this once",
                    .method = "POST",
                    .path = "/_rf/webhooks",
                    .options = add_options,
                    .example = "posthorn webhooks add --to https://shop.example/hook --type "
                               "'order.*'"},
    feature_command{.name = "show",
                    .summary = "show one",
                    .method = "GET",
                    .path = "/_rf/webhooks/{id}",
                    .options = which_options,
                    .example = "posthorn webhooks show 0199a0b1-0000-7000-8000-000000000003"},
    feature_command{.name = "edit",
                    .summary = "change what is named, and leave the rest",
                    .method = "POST",
                    .path = "/_rf/webhooks/{id}/edit",
                    .options = edit_options,
                    .example = "posthorn webhooks edit 0199a0b1-0000-7000-8000-000000000003 "
                               "--to https://shop.example/new"},
    turn("pause", "let its events wait", "/_rf/webhooks/{id}/pause",
         "posthorn webhooks pause 0199a0b1-0000-7000-8000-000000000003"),
    turn("resume", "send what has waited, and go on", "/_rf/webhooks/{id}/resume",
         "posthorn webhooks resume 0199a0b1-0000-7000-8000-000000000003"),
    turn("disable", "let events pass it by", "/_rf/webhooks/{id}/disable",
         "posthorn webhooks disable 0199a0b1-0000-7000-8000-000000000003"),
    turn("enable", "tell it of events again", "/_rf/webhooks/{id}/enable",
         "posthorn webhooks enable 0199a0b1-0000-7000-8000-000000000003"),
    feature_command{.name = "rotate",
                    .summary = "give it a new secret; the one before signs too, for a day",
                    .method = "POST",
                    .path = "/_rf/webhooks/{id}/rotate",
                    .options = rotate_options,
                    .example = "posthorn webhooks rotate 0199a0b1-0000-7000-8000-000000000003"},
    feature_command{.name = "test",
                    .summary = "send a test now, and show what came back",
                    .method = "POST",
                    .path = "/_rf/webhooks/{id}/test",
                    .options = test_options,
                    .example = "posthorn webhooks test 0199a0b1-0000-7000-8000-000000000003"},
    feature_command{.name = "missed",
                    .summary = "count what would be recovered",
                    .method = "GET",
                    .path = "/_rf/webhooks/{id}/recover",
                    .options = missed_options,
                    .example = "posthorn webhooks missed 0199a0b1-0000-7000-8000-000000000003 "
                               "--since 2026-11-13T08:00:00Z"},
    feature_command{.name = "recover",
                    .summary = "try deliveries again that came to nothing, or send what it missed",
                    .method = "POST",
                    .path = "/_rf/webhooks/{id}/recover",
                    .options = recover_options,
                    .example = "posthorn webhooks recover 0199a0b1-0000-7000-8000-000000000003 "
                               "--what missing --since 2026-11-13T08:00:00Z"},
    turn("remove", "remove it; deliveries that wait are given up", "/_rf/webhooks/{id}/remove",
         "posthorn webhooks remove 0199a0b1-0000-7000-8000-000000000003"),
    feature_command{.name = "event",
                    .summary = "show what an event has come to, by subscription",
                    .method = "GET",
                    .path = "/_rf/webhooks/events/{event}",
                    .options = event_options,
                    .example = "posthorn webhooks event 0199a0b1-0000-7000-8000-000000000003"},
    feature_command{.name = "event-recover",
                    .summary = "try those deliveries of an event again that were exhausted",
                    .method = "POST",
                    .path = "/_rf/webhooks/events/{event}/recover",
                    .options = event_options,
                    .example = "posthorn webhooks event-recover "
                               "0199a0b1-0000-7000-8000-000000000003"},
    feature_command{.name = "attempts",
                    .summary = "list what was tried for an event, by number",
                    .method = "GET",
                    .path = "/_rf/webhooks/events/{event}/attempts",
                    .options = attempt_options,
                    .list = "attempts",
                    .columns = attempt_columns,
                    .example = "posthorn webhooks attempts 0199a0b1-0000-7000-8000-000000000003"},
    feature_command{.name = "types",
                    .summary = "list the catalogue of event types",
                    .method = "GET",
                    .path = "/_rf/webhooks/types",
                    .list = "types",
                    .columns = type_columns,
                    .example = "posthorn webhooks types"},
    feature_command{.name = "type-set",
                    .summary = "add a type to the catalogue, or replace it",
                    .method = "POST",
                    .path = "/_rf/webhooks/types",
                    .options = type_options,
                    .example = "posthorn webhooks type-set --name order.paid "
                               "--description 'An order was paid'"},
    feature_command{.name = "type-remove",
                    .summary = "take a type out of the catalogue",
                    .method = "POST",
                    .path = "/_rf/webhooks/types/{name}/remove",
                    .options = type_name_options,
                    .example = "posthorn webhooks type-remove order.paid"},
    feature_command{.name = "portal-token",
                    .summary = "make a token with which a subscriber reaches their own endpoints",
                    .method = "POST",
                    .path = "/_rf/webhooks/portal-tokens",
                    .options = token_options,
                    .example = "posthorn webhooks portal-token --tenant acme --rights read,write "
                               "--for-seconds 3600"},
    feature_command{.name = "deliveries",
                    .summary = "list attempts, the newest first",
                    .method = "GET",
                    .path = "/_rf/webhooks/{id}/deliveries",
                    .options = delivery_options,
                    .list = "deliveries",
                    .columns = delivery_columns,
                    .example = "posthorn webhooks deliveries 0199a0b1-0000-7000-8000-000000000003"},
};

}  // namespace

std::span<const feature_command> webhook_commands() noexcept { return commands_of_it; }

}  // namespace posthorn
