#include "app/node/node_hooks.hpp"

#include <exception>

#include <fmt/format.h>

#include "store/user_transaction.hpp"

namespace posthorn {
namespace {

dead_letter letter_of(const final_row& what) {
    return {.body = what.row.body,
            .expired = what.status == outbox_status::expired,
            .error = what.error,
            .attempts = what.row.attempts,
            .may_have_taken_effect = what.may_have_taken_effect};
}

}  // namespace

final_row_listener* node_hooks::other_for(const final_row& what) const {
    for (const auto& each : others_)
        if (what.row.body.correlation_id.starts_with(each.correlation_prefix)) return each.told;
    return nullptr;
}

result<> node_hooks::ended(store_transaction& tx, const final_row& what) {
    if (auto* const other = other_for(what)) return other->ended(tx, what);
    const bool expired = what.status == outbox_status::expired;
    const auto& configured = expired ? configured_expired_ : configured_dead_;
    const auto& coded = expired ? expired_ : dead_;
    if (!configured && !coded) return {};
    user_transaction seen(tx, maker_);
    try {
        const auto letter = letter_of(what);
        if (configured) configured(seen, letter);
        if (coded) coded(seen, letter);
    } catch (const std::exception& failure) {
        return fail(error_code::statement_failed, "{}", failure.what());
    } catch (...) {
        return fail(error_code::statement_failed, "the hook threw something unknown");
    }
    return seen.intact();
}

void node_hooks::told(const final_row& what) {
    if (auto* const other = other_for(what)) return other->told(what);
    const auto& body = what.row.body;
    if (body.type != message_type::command || body.correlation_id.empty()) return;
    const bool expired = what.status == outbox_status::expired;
    const auto code = expired ? error_code::message_expired : error_code::closed;
    calls_.fail(
        body.correlation_id,
        std::make_exception_ptr(error(
            code, fmt::format("{} was given up by {}, so no response comes: {}", body.endpoint,
                              expired ? "its expiry" : "its retries", what.error))));
}

}  // namespace posthorn
