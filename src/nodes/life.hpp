#pragma once

#include <string>
#include <string_view>

#include <boost/json/array.hpp>

#include "base/result.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

/// What one node knows of a message that another one has, too. A trace is one of:
///
/// | `what`   | the node                       | `messageId`   | `service`         | `at`          |
/// |----------|--------------------------------|---------------|-------------------|---------------|
/// | `sent`   | has it in its outbox           | the message's | its destination   | made          |
/// | `taken`  | took it in                     | the message's | the sender        | took effect   |
/// | `caused` | sent this while it handled it  | what it sent  | the destination   | made          |
/// | `cause`  | sent or took in what caused it | the cause's   | the other service | as above      |
///
/// Each has `node`, `endpoint` and `status` too: that of the outbox, or `handled` or `at work`.
struct node_traces {
    boost::json::array traces{};
    std::string why{};  // It did not answer; empty if it did.
    bool more = false;  // It has not looked at all that it sent since, or shown all.
};

// What a node answers is not believed to be of any form. All pure.

/// Reads the answer to `/_rf/links/ID`.
[[nodiscard]] node_traces read_traces(std::string_view node, std::string_view id,
                                      const result<http_response>& answer);

/// Adds what the answer to `/_rf/outbox/CAUSE` tells, unless the node told of its cause already.
void add_cause(node_traces& into, std::string_view node, const result<http_response>& answer);

}  // namespace posthorn
