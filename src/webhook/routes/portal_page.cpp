#include "webhook/routes/portal_page.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/assert.hpp"
#include "base/text/utf8.hpp"
#include "webhook/routes/portal_files.hpp"

namespace posthorn {
namespace {

constexpr std::string_view page_file = "portal.html";
// Stands in the page where the script reads who may hand a token over.
constexpr std::string_view embedders_mark = "{embedders}";
constexpr std::size_t host_bytes_max = 253;

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(' ');
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Browsers say an origin in small letters, and compare it to the letter.
bool is_host(std::string_view text) {
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    };
    const auto is_hex = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ':' || c == '.';
    };
    if (text.size() > 2 && text.front() == '[' && text.back() == ']')
        return std::ranges::all_of(text.substr(1, text.size() - 2), is_hex);
    return !text.empty() && text.size() <= host_bytes_max && text.front() != '-' &&
           text.front() != '.' && std::ranges::all_of(text, is_plain);
}

bool is_port(std::string_view text) {
    int number = 0;
    const auto [end, wrong] = std::from_chars(text.begin(), text.end(), number);
    return wrong == std::errc{} && end == text.end() && number >= 1 && number <= 65535 &&
           text.front() != '0';
}

/// As a browser says it: without the port that the scheme has anyway.
bool is_origin(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 2> schemes{
        {{"https://", "443"}, {"http://", "80"}}};
    for (const auto& [scheme, usual_port] : schemes) {
        if (!text.starts_with(scheme)) continue;
        const auto rest = text.substr(scheme.size());
        const auto after_host = rest.starts_with('[') ? rest.find(']') : 0;
        const auto colon = after_host == rest.npos ? rest.npos : rest.find(':', after_host);
        if (colon == rest.npos) return is_host(rest);
        const auto port = rest.substr(colon + 1);
        return is_host(rest.substr(0, colon)) && is_port(port) && port != usual_port;
    }
    return false;
}

http_response never_kept(http_response answer) {
    answer.headers.add("Cache-Control", "no-cache");
    return answer;
}

task<http_response> answer_page(const std::string& page, const std::string& policy) {
    http_response response{.status = 200, .headers = {}, .body = page};
    auto& headers = response.headers;
    headers.add("Content-Type", std::string(media_type_of(page_file)));
    headers.add("Content-Security-Policy", policy);
    headers.add("Referrer-Policy", "no-referrer");
    headers.add("X-Content-Type-Options", "nosniff");
    co_return never_kept(std::move(response));
}

task<http_response> answer_file(const served_file& file, const std::string& policy,
                                http_request request) {
    auto response = answer_with_file(file, request, policy);
    response.headers.add("X-Content-Type-Options", "nosniff");
    co_return response;
}

// Relative, since a proxy may show the portal somewhere else.
task<http_response> answer_way() {
    co_return never_kept({.status = 308, .headers = {{"Location", "portal/"}}, .body = {}});
}

task<http_response> answer_no_file() {
    co_return error_response(404, "not_found", "the portal has no such file; load the page anew");
}

}  // namespace

result<std::vector<std::string>> parse_embedders(std::string_view text) {
    std::vector<std::string> all;
    while (!text.empty()) {
        const auto part = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        const auto one = trimmed(part);
        if (!is_origin(one))
            return fail(error_code::invalid_argument,
                        "'{}' is not an origin; write https://app.example, in small letters, with "
                        "a port if it has one of its own and without a path",
                        clean_utf8(one, 100));
        all.emplace_back(one);
    }
    return all;
}

std::string portal_content_policy(const std::vector<std::string>& embedders) {
    const auto framed_by =
        embedders.empty() ? std::string("'none'") : fmt::format("{}", fmt::join(embedders, " "));
    return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
           "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors " +
           framed_by;
}

std::vector<public_route> portal_page_routes(const std::vector<std::string>& embedders) {
    const auto files = portal_files();
    const auto shell = std::ranges::find(files, page_file, &served_file::path);
    POSTHORN_ASSERT(shell != files.end());
    std::string page(shell->plain);
    const auto mark = page.find(embedders_mark);
    POSTHORN_ASSERT(mark != page.npos);
    page.replace(mark, embedders_mark.size(), fmt::format("{}", fmt::join(embedders, " ")));

    const auto policy = portal_content_policy(embedders);
    const std::string root = "/webhooks/portal";
    std::vector<public_route> made;
    made.push_back({"GET", root, [](const http_request&) { return answer_way(); }});
    made.push_back({"GET", root + "/", [page = std::move(page), policy](const http_request&) {
                        return answer_page(page, policy);
                    }});
    // A script of another version must not be answered with something else.
    made.push_back(
        {"GET", root + "/assets/{file}", [](const http_request&) { return answer_no_file(); }});
    for (const auto& file : files)
        if (file.path != page_file)
            made.push_back(
                {"GET", root + "/" + std::string(file.path), [&file, policy](http_request request) {
                     return answer_file(file, policy, std::move(request));
                 }});
    return made;
}

}  // namespace posthorn
