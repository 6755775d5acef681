#include "message/compact_json.hpp"

#include <simdjson.h>

namespace posthorn {

std::string compact_json(std::string_view json) {
    std::string compact(json.size() + simdjson::SIMDJSON_PADDING, '\0');
    std::size_t size = 0;
    if (simdjson::minify(json.data(), json.size(), compact.data(), size) != simdjson::SUCCESS)
        return std::string(json);
    compact.resize(size);
    return compact;
}

}  // namespace posthorn
