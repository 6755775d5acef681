#pragma once

#include <span>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "base/result.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

/// What another node has answered, as far as it answered as a node does.
struct told {
    boost::json::object body{};  // Of a good answer.
    bool has_none = false;       // It does not know what it was asked for.
    std::string why{};           // There is neither; empty otherwise.
};

// What a node answers is not believed to be of any form: texts are cleaned and cut. All pure.

[[nodiscard]] told read_told(const result<http_response>& answer);

/// What to say of an answer that is not as a node's.
[[nodiscard]] std::string not_as_a_node(const http_response& answer);

/// Which of the fields of an object are wanted, if they are texts.
struct wanted_texts {
    std::span<const std::string_view> needed;
    std::span<const std::string_view> more{};
};
/// Empty if one that is needed is missing, or if it is no object.
[[nodiscard]] boost::json::object texts_of(const boost::json::value& from, wanted_texts wanted);

}  // namespace posthorn
