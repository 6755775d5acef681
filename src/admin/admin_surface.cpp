#include "admin/admin_surface.hpp"

#include <utility>

namespace posthorn {

void admin_surface::add(admin_route one) {
    all_.push_back({one.method, one.path, one.needs, false, one.doc});
    routes_.add(std::move(one.method), std::move(one.path),
                gate_.guarded(one.needs, std::move(one.answer)));
}

void admin_surface::add_open(std::string method, std::string path, const route_doc& doc,
                             http_handler answer) {
    all_.push_back({method, path, std::nullopt, true, doc});
    routes_.add(std::move(method), std::move(path), std::move(answer));
}

}  // namespace posthorn
