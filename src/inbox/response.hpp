#pragma once

#include <string_view>

#include <posthorn/message.hpp>

#include "store/message_maker.hpp"
#include "store/transaction.hpp"

namespace posthorn {

/// Sends the Response to a message back to its source, in the transaction that finishes its work. A
/// Command is always answered: with `null` where there is nothing to say. Other types are not.
///
/// A node without an outbox cannot answer: nothing to say is then not said, and a response is
/// refused with `error_code::invalid_argument`.
[[nodiscard]] result<> send_response(store_transaction& tx, const message_maker& maker,
                                     const message& asked, std::string_view response);

}  // namespace posthorn
