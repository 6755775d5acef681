#include "admin/admin_surface.hpp"

#include <utility>

#include "base/text/url_query.hpp"
#include "feature/answers.hpp"

namespace posthorn {
namespace {

task<http_response> refused_query(error why) { co_return answer_to_error(why); }

/// Whatever a route makes of its query, it is not given one that can be read in two ways.
admin_handler with_plain_query(admin_handler answer) {
    return [answer = std::move(answer)](http_request request, admin_caller who) {
        if (auto read = check_query(request.query); !read) return refused_query(read.error());
        return answer(std::move(request), std::move(who));
    };
}

}  // namespace

void admin_surface::add(admin_route one) {
    all_.push_back({one.method, one.path, one.needs, false, one.doc});
    routes_.add(std::move(one.method), std::move(one.path),
                gate_.guarded(one.needs, with_plain_query(std::move(one.answer))));
}

void admin_surface::add_open(std::string method, std::string path, const route_doc& doc,
                             http_handler answer) {
    all_.push_back({method, path, std::nullopt, true, doc});
    routes_.add(std::move(method), std::move(path), std::move(answer));
}

}  // namespace posthorn
