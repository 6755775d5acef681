#include "transport/inprocess/kind.hpp"

namespace posthorn {
namespace {

result<route_url> parse(std::string_view url) {
    if (url != "inprocess:") return fail(error_code::invalid_argument, "nothing may follow it");
    return route_url{};
}

}  // namespace

transport_kind inprocess_kind() {
    return {
        .schemes = {"inprocess"}, .written = {"inprocess:"}, .is_signed = false, .parse = parse};
}

}  // namespace posthorn
