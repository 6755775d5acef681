#include "url/url_destination.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace posthorn {
namespace {

template <class... Args>
std::unexpected<std::string> refuse(fmt::format_string<Args...> text, Args&&... args) {
    return std::unexpected("the destination cannot be called: " +
                           fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace

std::expected<http_url, std::string> judge_destination(std::string_view text,
                                                       const guard_rules& rules) {
    if (text.size() > url_destination_bytes_max)
        return refuse(
            "its URL has {} bytes, and at most {} can be signed for; give the service a "
            "route under [routes], and send to its name",
            text.size(), url_destination_bytes_max);
    if (!has_http_scheme(text))
        return refuse(
            "it is a URL of another scheme than http:// and https://; give the service a "
            "route under [routes], and send to its name");
    if (text.starts_with("http://") && !rules.plain_http)
        return refuse(
            "its URL is not https; write https://, or set urls.plain_http = true, and "
            "requeue it");
    auto to = judge_url(text, rules);
    if (!to)
        return refuse(
            "{}; send to another URL, or name a network that may be called in "
            "urls.allow, and requeue it",
            to.error().for_operator());
    if (text.find('?') != text.npos) return refuse("its URL has a query; leave it out");
    return *std::move(to);
}

delivery judge_attempt(delivery answer) {
    if (answer.what != outcome::unanswered) return answer;
    if (answer.code == error_code::invalid_argument) {
        answer.what = outcome::transient;
        answer.error += "; if it may be called, name its network in urls.allow";
        answer.code.reset();
    } else if (answer.code == error_code::overloaded) {
        answer.what = outcome::throttled;
        answer.retry_after = std::chrono::seconds{1};
        answer.error += "; see urls.connections_max";
        answer.code.reset();
    }
    return answer;
}

}  // namespace posthorn
