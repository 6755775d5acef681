#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "engine/steps/step_writer.hpp"
#include "store/message_maker.hpp"
#include "store/transaction.hpp"

/// Commands that workflows answer. Each is a signal that keeps who is to hear of it, until it is
/// answered: once.
namespace posthorn {

/// What a message is, and not the database, is why it cannot be sent.
[[nodiscard]] constexpr bool is_about_message(error_code why) noexcept {
    return why == error_code::invalid_payload || why == error_code::invalid_argument ||
           why == error_code::message_too_large;
}

/// A workflow has got the Command, if it is one, and holds it.
result<> hold_request(store_transaction& tx, std::int64_t instance, const mail& what);
/// Sends the answer of a step. `error_code::invalid_payload` if it cannot be one.
result<> answer_request(store_transaction& tx, const pending_step& step,
                        const detail::flow_command& command, const message_maker& maker);
/// Nothing will answer it: its sender hears why.
result<> refuse_request(store_transaction& tx, std::int64_t signal, std::string_view why,
                        const message_maker& maker);
/// Those that a workflow holds, which has ended.
result<> refuse_held(store_transaction& tx, std::int64_t instance, const message_maker& maker);
/// Lets those that a workflow holds wait for its next run.
result<> hand_on_held(store_transaction& tx, std::int64_t instance);

}  // namespace posthorn
