#include "forward/central_requests.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <posthorn/error.hpp>

#include "base/text/utf8.hpp"
#include "forward/forward_rows.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

// A page has to fit into one answer.
constexpr std::int64_t parked_page_max = 200;
constexpr std::size_t parked_text_max = 500;

json::object asked_of(const message& received) {
    boost::system::error_code wrong;
    auto read = json::parse(received.payload, wrong);
    if (wrong || !read.is_object())
        throw permanent(fmt::format("{} is not a JSON object", received.endpoint));
    return std::move(read.as_object());
}

void check_sender(const central_office& with, const message& received) {
    if (received.source == with.centre) return;
    throw permanent(fmt::format("{} is not for {}: this site takes it from its centre alone",
                                received.endpoint, received.source));
}

uuid id_in(const json::object& asked, std::string_view name, const message& received) {
    const auto* const said = asked.if_contains(name);
    const auto id =
        said != nullptr && said->is_string() ? uuid::parse(said->as_string()) : std::nullopt;
    if (!id)
        throw permanent(fmt::format("{} needs {}: 32 digits, with hyphens or without",
                                    received.endpoint, name));
    return *id;
}

std::int64_t number_in(const json::object& asked, std::string_view name, std::int64_t fallback) {
    const auto* const said = asked.if_contains(name);
    return said != nullptr && said->is_int64() ? said->as_int64() : fallback;
}

json::value shown_text(const std::string& text) {
    if (text.empty()) return nullptr;
    return json::value(clean_utf8(text, parked_text_max));
}

json::object parked_row(const held_work& one) {
    const auto time = [](std::int64_t ms) {
        return to_iso8601(wall_time{std::chrono::milliseconds(ms)});
    };
    return {{"MessageId", one.id},
            {"Category", one.category},
            {"Target", shown_text(one.target)},
            {"RetryCount", one.retry_count},
            {"MaxRetries", one.max_retries},
            {"CreatedAtUtc", time(one.created_at)},
            {"LastAttemptAtUtc",
             one.last_attempt_at ? json::value(time(*one.last_attempt_at)) : json::value(nullptr)},
            {"LastError", shown_text(one.last_error)},
            {"OriginInstance", shown_text(one.origin_instance)}};
}

std::string answer_query(context& with, const message& received) {
    const auto asked = asked_of(received);
    const auto after = std::max<std::int64_t>(number_in(asked, "After", 0), 0);
    const auto limit =
        std::clamp<std::int64_t>(number_in(asked, "PageSize", 100), 1, parked_page_max);
    json::array page;
    std::int64_t last = 0;
    with.for_each_row(
        [&](const sql_row& row) {
            const auto one = read_held_row(row);
            last = one.seq;
            page.push_back(parked_row(one));
        },
        fmt::format("{} WHERE seq > ? AND status = 2 ORDER BY seq LIMIT ?", held_sql), after,
        limit);
    json::object answer;
    if (std::cmp_equal(page.size(), limit)) answer["Next"] = last;
    answer["Messages"] = std::move(page);
    return json::serialize(answer);
}

/// One of the four that change something, as they differ.
struct parked_change {
    std::string_view endpoint;
    std::string_view id_name;
    std::string_view done_name;  // Of the answer: whether it was done.
    std::string_view sql;
};

constexpr std::array parked_changes{
    parked_change{"ParkedMessageRetryRequest", "MessageId", "Success", retry_parked_sql},
    parked_change{"ParkedMessageDiscardRequest", "MessageId", "Success", discard_parked_sql},
    parked_change{"RetryParkedOperation", "TrackedOperationId", "Accepted", retry_parked_sql},
    parked_change{"DiscardParkedOperation", "TrackedOperationId", "Accepted", discard_parked_sql},
};

std::string answer_change(const parked_change& what, context& with, const message& received) {
    const auto id = id_in(asked_of(received), what.id_name, received);
    const bool done = with.execute(what.sql, id.to_string()) > 0;
    json::object answer{{what.id_name, id.to_string()}, {what.done_name, done}};
    if (!done) answer["Error"] = "nothing is parked under this id";
    return json::serialize(answer);
}

}  // namespace

result<> add_central_requests(class handlers& into, const central_office& with) {
    POSTHORN_TRY(
        into.add("ParkedMessageQueryRequest",
                 {.run = transactional_handler([&with](context& in, const message& received) {
                      check_sender(with, received);
                      return answer_query(in, received);
                  }),
                  .takes_responses = false}));
    for (const auto& each : parked_changes)
        POSTHORN_TRY(into.add(
            std::string(each.endpoint),
            {.run = transactional_handler([&with, &each](context& in, const message& received) {
                 check_sender(with, received);
                 return answer_change(each, in, received);
             }),
             .takes_responses = false}));
    return {};
}

}  // namespace posthorn
