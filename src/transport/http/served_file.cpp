#include "transport/http/served_file.hpp"

#include <array>
#include <string>
#include <utility>

namespace posthorn {
namespace {

bool takes_gzip(const http_request& request) {
    const auto accepted = request.headers.find("Accept-Encoding").value_or("");
    return accepted.find("gzip") != accepted.npos;
}

}  // namespace

std::string_view media_type_of(std::string_view path) noexcept {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> types{
        {{".html", "text/html; charset=utf-8"},
         {".js", "text/javascript; charset=utf-8"},
         {".css", "text/css; charset=utf-8"},
         {".svg", "image/svg+xml"}}};
    for (const auto& [ending, type] : types)
        if (path.ends_with(ending)) return type;
    return "text/plain; charset=utf-8";
}

bool is_named_by_content(std::string_view path) noexcept {
    constexpr std::size_t hash_characters = 8;
    const auto name = path.substr(0, path.rfind('.'));
    return path.starts_with("assets/") && name.size() > hash_characters &&
           name[name.size() - hash_characters - 1] == '-';
}

http_response answer_with_file(const served_file& file, const http_request& request,
                               std::string_view policy) {
    http_response response{.status = 200, .headers = {}, .body = {}};
    auto& headers = response.headers;
    headers.add("Content-Type", std::string(media_type_of(file.path)));
    headers.add("Content-Security-Policy", std::string(policy));
    headers.add("Referrer-Policy", "no-referrer");
    headers.add("Vary", "Accept-Encoding");
    if (is_named_by_content(file.path))
        headers.add("Cache-Control", "public, max-age=31536000, immutable");
    const bool compressed = takes_gzip(request);
    if (compressed) headers.add("Content-Encoding", "gzip");
    response.body = compressed ? file.gzip : file.plain;
    return response;
}

}  // namespace posthorn
