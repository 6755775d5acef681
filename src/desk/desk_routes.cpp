#include "desk/desk_routes.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "desk/desk_files.hpp"

namespace posthorn {
namespace {

constexpr std::string_view page_file = "index.html";

// Files of this node alone, and no code inside a page: text of strangers that became markup by
// mistake could still not run, nor send anything anywhere.
constexpr std::string_view content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string_view type_of(std::string_view path) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> types{
        {{".html", "text/html; charset=utf-8"},
         {".js", "text/javascript; charset=utf-8"},
         {".css", "text/css; charset=utf-8"},
         {".svg", "image/svg+xml"}}};
    for (const auto& [ending, type] : types)
        if (path.ends_with(ending)) return type;
    return "text/plain; charset=utf-8";
}

bool takes_gzip(const http_request& request) {
    const auto accepted = request.headers.find("Accept-Encoding").value_or("");
    return accepted.find("gzip") != accepted.npos;
}

task<http_response> answer(const desk_file& file, http_request request) {
    http_response response{.status = 200, .headers = {}, .body = {}};
    auto& headers = response.headers;
    headers.add("Content-Type", std::string(type_of(file.path)));
    headers.add("Content-Security-Policy", std::string(content_policy));
    headers.add("Referrer-Policy", "no-referrer");
    headers.add("Cross-Origin-Opener-Policy", "same-origin");
    headers.add("Vary", "Accept-Encoding");
    if (is_named_by_content(file.path))
        headers.add("Cache-Control", "public, max-age=31536000, immutable");
    const bool compressed = takes_gzip(request);
    if (compressed) headers.add("Content-Encoding", "gzip");
    response.body = compressed ? file.gzip : file.plain;
    co_return response;
}

task<http_response> answer_no_file() {
    co_return error_response(404, "not_found", "the desk has no such file; load the page anew");
}

}  // namespace

bool is_named_by_content(std::string_view path) noexcept {
    constexpr std::size_t hash_characters = 8;
    const auto name = path.substr(0, path.rfind('.'));
    return path.starts_with("assets/") && name.size() > hash_characters &&
           name[name.size() - hash_characters - 1] == '-';
}

void add_desk_routes(router& routes) {
    const auto files = desk_files();
    const auto page = std::ranges::find(files, page_file, &desk_file::path);
    POSTHORN_ASSERT(page != files.end());
    const auto show = [&shell = *page](http_request request) {
        return answer(shell, std::move(request));
    };
    for (const auto* const path : {"/", "/desk", "/desk/", "/desk/{page}"})
        routes.add("GET", path, show);
    // A script of another version must not be answered with the page.
    routes.add("GET", "/desk/assets/{file}", [](const http_request&) { return answer_no_file(); });
    routes.add("GET", "/desk/{page}/{id}", show);
    for (const auto& file : files)
        if (file.path != page_file)
            routes.add("GET", fmt::format("/desk/{}", file.path),
                       [&file](http_request request) { return answer(file, std::move(request)); });
}

}  // namespace posthorn
