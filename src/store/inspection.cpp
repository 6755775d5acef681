#include "store/inspection.hpp"

namespace posthorn {

bool is_undeliverable_error(std::string_view text) noexcept {
    return text.starts_with("no route to ") || text.starts_with("no_handler") ||
           text.starts_with("secret_unavailable");
}

}  // namespace posthorn
