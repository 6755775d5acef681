#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <posthorn/detail/time.hpp>

#include "base/result.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

/// What every node is asked for one search: `/_rf/outbox?…`, or `/_rf/outbox/ID` where an id is
/// given. `error_code::invalid_argument` names what is unknown or wrong. Pure.
[[nodiscard]] result<std::string> search_target(std::string_view query, wall_time now);

/// What one node has found.
struct node_hits {
    boost::json::array messages{};  // The fields that a list shows, each with the node's name.
    std::string why{};              // It did not answer; empty if it did.
    bool more = false;              // It has not looked at all that it has, or shown all.
};

/// Reads an answer to such a question, be it a list or one message. What a node answers is not
/// believed to be of any form: texts are cleaned and cut. Pure.
[[nodiscard]] node_hits read_hits(std::string_view node, const result<http_response>& answer);

/// One message as a node shows it, or why not: `error_code::not_found` if the node does not have it.
/// Payload and headers are taken out, should they be there. Pure.
[[nodiscard]] result<boost::json::object> read_message(std::string_view node,
                                                       const result<http_response>& answer);

}  // namespace posthorn
