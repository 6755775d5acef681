#include "desk/desk_routes.hpp"

#include <algorithm>
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

task<http_response> answer(const served_file& file, http_request request) {
    auto response = answer_with_file(file, request, content_policy);
    response.headers.add("Cross-Origin-Opener-Policy", "same-origin");
    co_return response;
}

task<http_response> answer_no_file() {
    co_return error_response(404, "not_found", "the desk has no such file; load the page anew");
}

}  // namespace

void add_desk_routes(router& routes) {
    const auto files = desk_files();
    const auto page = std::ranges::find(files, page_file, &served_file::path);
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
