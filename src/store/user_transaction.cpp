#include "store/user_transaction.hpp"

namespace posthorn {
namespace {

// Errors of one statement or message; what was done before it stands.
bool concerns_one_call_only(error_code code) {
    switch (code) {
        case error_code::statement_failed:
        case error_code::statement_forbidden:
        case error_code::duplicate_id:
        case error_code::invalid_argument:
        case error_code::invalid_payload:
        case error_code::message_expired:
        case error_code::message_too_large: return true;
        default: return false;
    }
}

}  // namespace

template <class T>
T transaction_body::value_of(result<T> outcome) {
    if (!outcome && !broken_ && !concerns_one_call_only(outcome.error().code()))
        broken_ = outcome.error();
    return value_or_throw(std::move(outcome));
}

std::int64_t transaction_body::execute(std::string_view sql, std::span<const sql_param> with) {
    // What a program writes for workflows in SQL of its own is looked at as soon as it is there.
    if (sql.contains("workflow_")) tx_.announce();
    return value_of(tx_.execute(sql, with));
}

void transaction_body::query(std::string_view sql, std::span<const sql_param> with,
                             const store_transaction::row_visitor& visit) {
    value_of(tx_.query(sql, with, visit));
}

uuid transaction_body::send(detail::send_request asked, const message* cause) {
    auto made = value_of(maker_.make(std::move(asked), cause));
    return value_of(tx_.outbox().insert(std::move(made))).id;
}

result<> transaction_body::intact() const {
    if (broken_) return std::unexpected(*broken_);
    return {};
}

}  // namespace posthorn
