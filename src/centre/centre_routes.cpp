#include "centre/centre_routes.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include <boost/json.hpp>

#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "centre/centre_rows.hpp"
#include "feature/answers.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::int64_t centre_page_max = 1000;
constexpr std::size_t centre_text_max = 500;

void show_text(json::object& into, std::string_view name, const std::string& text) {
    if (!text.empty()) into[name] = clean_utf8(text, centre_text_max);
}

json::object shown_site(const known_site& one) {
    json::object shown{{"site", clean_utf8(one.site, centre_text_max)},
                       {"service", clean_utf8(one.service, centre_text_max)},
                       {"firstSeen", clean_utf8(one.first_seen, centre_text_max)},
                       {"calls", one.calls},
                       {"parked", one.parked},
                       {"notifications", one.notifications}};
    show_text(shown, "lastTold", one.last_told);
    return shown;
}

json::object shown_call(const site_call& one) {
    json::object shown{{"seq", one.seq},
                       {"id", clean_utf8(one.id, centre_text_max)},
                       {"site", clean_utf8(one.site, centre_text_max)},
                       {"service", clean_utf8(one.service, centre_text_max)},
                       {"kind", clean_utf8(one.kind, centre_text_max)},
                       {"target", clean_utf8(one.target, centre_text_max)},
                       {"status", clean_utf8(one.status, centre_text_max)},
                       {"retryCount", one.retry_count},
                       {"attempts", one.attempts},
                       {"createdAt", clean_utf8(one.created_at, centre_text_max)},
                       {"updatedAt", clean_utf8(one.updated_at, centre_text_max)},
                       {"receivedAt", clean_utf8(one.received_at, centre_text_max)}};
    if (one.http_status) shown["httpStatus"] = *one.http_status;
    show_text(shown, "lastError", one.last_error);
    show_text(shown, "endedAt", one.ended_at);
    show_text(shown, "sourceInstance", one.source_instance);
    return shown;
}

json::object shown_notification(const site_notification& one) {
    json::object shown{{"id", clean_utf8(one.id, centre_text_max)},
                       {"site", clean_utf8(one.site, centre_text_max)},
                       {"service", clean_utf8(one.service, centre_text_max)},
                       {"bytes", one.bytes},
                       {"receivedAt", clean_utf8(one.received_at, centre_text_max)}};
    show_text(shown, "instance", one.instance);
    return shown;
}

bool read_count(std::string_view text, std::int64_t least, std::int64_t most, std::int64_t& into) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.begin(), text.end(), number);
    if (failure != std::errc{} || end != text.end() || number < least || number > most)
        return false;
    into = number;
    return true;
}

bool take_pair(std::string_view name, const std::string& value, call_filter& into) {
    if (name == "limit") return read_count(value, 1, centre_page_max, into.limit);
    if (name == "after")
        return read_count(value, 0, std::numeric_limits<std::int64_t>::max(), into.after);
    if (name == "site") into.site = value;
    if (name == "service") into.service = value;
    if (name == "status") into.status = value;
    return name == "site" || name == "service" || name == "status";
}

result<call_filter> read_filter(std::string_view query) {
    call_filter asked;
    POSTHORN_TRY(
        for_each_parameter(query, [&](std::string_view name, const std::string& value) -> result<> {
            if (take_pair(name, value, asked)) return {};
            return fail(error_code::invalid_argument,
                        "'{}={}' cannot be asked for; there are site, service, status, limit (1 to "
                        "{}) and after (the next of a page before)",
                        clean_utf8(name, 100), clean_utf8(value, 100), centre_page_max);
        }));
    return asked;
}

/// Answers with what `look` fills in.
task<http_response> answer_by_reading(const centre_office& with,
                                      std::function<result<>(store_reader&, json::object&)> look) {
    json::object shown;
    const auto done = co_await read(with.where, with.env.readers, [&](store_reader& from) {
        shown.clear();
        return look(from, shown);
    });
    if (!done) co_return answer_to_error(done.error());
    co_return json_response(200, json::serialize(shown));
}

task<http_response> list_sites(const centre_office& with) {
    return answer_by_reading(with, [](store_reader& from, json::object& shown) -> result<> {
        POSTHORN_LET(all, read_sites(from));
        json::array sites;
        for (const auto& each : all) sites.push_back(shown_site(each));
        shown["sites"] = std::move(sites);
        return {};
    });
}

task<http_response> list_calls(const centre_office& with, http_request request) {
    const auto which = read_filter(request.query);
    if (!which) co_return answer_to_error(which.error());
    co_return co_await answer_by_reading(with,
                                         [&](store_reader& from, json::object& shown) -> result<> {
                                             POSTHORN_LET(page, read_site_calls(from, *which));
                                             json::array calls;
                                             for (const auto& each : page)
                                                 calls.push_back(shown_call(each));
                                             if (std::cmp_equal(page.size(), which->limit))
                                                 shown["next"] = page.back().seq;
                                             shown["calls"] = std::move(calls);
                                             return {};
                                         });
}

task<http_response> list_notifications(const centre_office& with, http_request request) {
    const auto which = read_filter(request.query);
    if (!which) co_return answer_to_error(which.error());
    co_return co_await answer_by_reading(
        with, [&](store_reader& from, json::object& shown) -> result<> {
            POSTHORN_LET(page, read_notifications(from, which->after, which->limit));
            json::array all;
            for (const auto& each : page) all.push_back(shown_notification(each));
            if (std::cmp_equal(page.size(), which->limit)) shown["next"] = page.back().seq;
            shown["notifications"] = std::move(all);
            return {};
        });
}

constexpr feature_option a_limit{
    .name = "limit", .doc = "how many, at most 1000; 100 unless given", .number = true};
constexpr feature_option an_after{
    .name = "after", .doc = "the next page: what 'next' said", .number = true};
constexpr std::array page_options{a_limit, an_after};
constexpr std::array call_options{
    feature_option{.name = "site", .doc = "only of this one"},
    feature_option{.name = "service", .doc = "only of sites of this service"},
    feature_option{.name = "status", .doc = "only these, such as Parked"}, a_limit, an_after};
constexpr std::array site_heads{feature_column{"SITE", "site"},
                                feature_column{"SERVICE", "service"},
                                feature_column{"CALLS", "calls"},
                                feature_column{"PARKED", "parked"},
                                feature_column{"NOTIFICATIONS", "notifications"},
                                feature_column{"LAST TOLD", "lastTold"}};
constexpr std::array call_heads{feature_column{"ID", "id"},
                                feature_column{"SITE", "site"},
                                feature_column{"KIND", "kind"},
                                feature_column{"TARGET", "target"},
                                feature_column{"STATUS", "status"},
                                feature_column{"RETRIES", "retryCount"},
                                feature_column{"UPDATED", "updatedAt"},
                                feature_column{"ERROR", "lastError"}};
constexpr std::array notification_heads{feature_column{"ID", "id"}, feature_column{"SITE", "site"},
                                        feature_column{"INSTANCE", "instance"},
                                        feature_column{"RECEIVED", "receivedAt"}};

constexpr std::array all_commands{
    feature_command{.name = "sites",
                    .summary = "list the sites that were heard of",
                    .method = "GET",
                    .path = "/_rf/centre/sites",
                    .list = "sites",
                    .columns = site_heads,
                    .example = "posthorn centre sites"},
    feature_command{.name = "calls",
                    .summary = "list what sites told of their calls, the oldest first",
                    .method = "GET",
                    .path = "/_rf/centre/calls",
                    .options = call_options,
                    .list = "calls",
                    .columns = call_heads,
                    .example = "posthorn centre calls --status Parked"},
    feature_command{.name = "notifications",
                    .summary = "list the notifications of sites, the oldest first",
                    .method = "GET",
                    .path = "/_rf/centre/notifications",
                    .options = page_options,
                    .list = "notifications",
                    .columns = notification_heads,
                    .example = "posthorn centre notifications"},
};

}  // namespace

std::span<const feature_command> centre_commands() noexcept { return all_commands; }

std::vector<admin_route> centre_routes(const centre_office& with) {
    return {
        {"GET",
         "/_rf/centre/sites",
         admin_role::viewer,
         {.summary = "The sites that this centre has heard of.",
          .answer = "{sites: [{site: string, service: string, firstSeen: time, calls: integer,"
                    " parked: integer, notifications: integer, lastTold?: time}]}"},
         [&with](http_request /*request*/, admin_caller /*who*/) { return list_sites(with); }},
        {"GET",
         "/_rf/centre/calls",
         admin_role::viewer,
         {.summary = "What sites told of their calls; the site's own table decides.",
          .answer = "{calls: [{seq: integer, id: string, site: string, service: string, kind: "
                    "string, target:"
                    " string, status: string, retryCount: integer, attempts: integer, createdAt:"
                    " string, updatedAt: string, receivedAt: time, httpStatus?: integer,"
                    " lastError?: string, endedAt?: string, sourceInstance?: string}],"
                    " next?: integer}",
          .query = "{site?: string, service?: string, status?: string, limit?: integer,"
                   " after?: integer}"},
         [&with](http_request request, admin_caller /*who*/) {
             return list_calls(with, std::move(request));
         }},
        {"GET",
         "/_rf/centre/notifications",
         admin_role::viewer,
         {.summary = "The notifications that sites have submitted, without what they say.",
          .answer = "{notifications: [{id: string, site: string, service: string, bytes: integer,"
                    " receivedAt: time, instance?: string}], next?: integer}",
          .query = "{limit?: integer, after?: integer}"},
         [&with](http_request request, admin_caller /*who*/) {
             return list_notifications(with, std::move(request));
         }},
    };
}

}  // namespace posthorn
