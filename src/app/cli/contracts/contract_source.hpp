#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "base/result.hpp"

namespace posthorn::cli {

/// Files of PEM for a node that speaks TLS; the system's authorities and nothing to show if empty.
struct source_tls {
    std::string authority{};
    std::string certificate{};
    std::string key{};
};

/// The metadata of a running node (`http://HOST:PORT`), of a file that holds it as JSON, or of a
/// program in which contracts stand, which is not run.
[[nodiscard]] result<boost::json::object> read_metadata(const std::string& place,
                                                        const source_tls& tls = {});

/// From text; `error_code::malformed_request`, which names the place, if it is none.
[[nodiscard]] result<boost::json::object> parse_metadata(std::string_view text,
                                                         const std::string& place);

[[nodiscard]] bool is_url(std::string_view place);

}  // namespace posthorn::cli
