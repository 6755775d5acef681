#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/message.hpp>

#include "base/result.hpp"
#include "message/validate.hpp"

namespace posthorn {

/// A message as text and back, as docs/reference/wire.md says. Pure.

/// Appends the message as one JSON object. The same message gives the same bytes each time. Throws
/// `error_code::invalid_payload` for one that `validate` would refuse and JSON cannot say; what was
/// appended by then stays.
void append_envelope(std::string& out, const message& what);
/// The payload as it stands in an envelope: JSON, and without white space between its tokens, so
/// that a peer that reads it and writes it out again has a chance of getting the same bytes.
[[nodiscard]] std::string compact_payload(const message& what);
/// The same envelope with that payload and the header `rf-hmac`, none if it is empty, and the id
/// once more as `commandId` if asked.
struct envelope_parts {
    std::string_view payload{};
    std::string_view hmac{};
    bool is_command = false;
};
void append_envelope(std::string& out, const message& what, const envelope_parts& parts);
/// Appends `{"messages":[…]}`.
void append_batch(std::string& out, const std::vector<const message*>& batch);

/// What a reader is told besides the text.
struct envelope_rules {
    std::string_view destination;  // The service that reads: the wire names it outside of the text.
    wall_time now{};               // For messages that do not say when they were made.
    std::size_t messages_max = 1000;  // In a batch.
    message_limits limits{};
};

/// `error_code::malformed_request`, which names the field and quotes nothing, if it is none;
/// `invalid_argument` or `message_too_large` if it is past a limit.
[[nodiscard]] result<message> read_envelope(std::string_view json, const envelope_rules& rules);
/// Each message by itself; an error only if the text as a whole is not a batch
/// (`malformed_request`) or has too many messages (`message_too_large`).
[[nodiscard]] result<std::vector<result<message>>> read_batch(std::string_view json,
                                                              const envelope_rules& rules);

}  // namespace posthorn
