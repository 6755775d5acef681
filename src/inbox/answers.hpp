#pragma once

#include <exception>

#include <posthorn/error.hpp>

#include "inbox/dedupe.hpp"
#include "transport/transport.hpp"

namespace posthorn {

/// What the sender is told in each case. Pure. An error text begins with the code's name where the
/// receiver itself refuses, and is at most 2,000 characters of UTF-8.

/// A handler threw: `permanent` buries, everything else is tried again.
[[nodiscard]] delivery answer_to_exception(const std::exception_ptr& thrown);
/// A handler gave an error. One that could not be asked has said nothing of the message.
[[nodiscard]] delivery answer_to_handler_error(const error& why);
/// The receiver's store could not do its part. The message is not at fault, so where it may pass no
/// attempt is charged.
[[nodiscard]] delivery answer_to_store_error(const error& why);

/// The table of the inbox takes no rows, as when a trigger of the application's raises: the same for
/// every message, so none is charged.
[[nodiscard]] delivery answer_inbox_refuses();

[[nodiscard]] delivery answer_without_key();
[[nodiscard]] delivery answer_no_handler(const message& what);
[[nodiscard]] delivery answer_expired(const message& what);
[[nodiscard]] delivery answer_clock_in_doubt();
[[nodiscard]] delivery answer_claim_lost();
[[nodiscard]] delivery answer_response_too_large(std::size_t size, std::size_t size_max);

/// For decisions other than `run`. The response is moved out of the entry.
[[nodiscard]] delivery answer_known(const dedupe_decision& decided, inbox_entry& known);

}  // namespace posthorn
