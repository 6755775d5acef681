#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/trace/span_context.hpp"
#include "inbox/answers.hpp"
#include "inbox/handlers.hpp"
#include "store/inbox_table.hpp"
#include "transport/transport.hpp"

namespace posthorn {

/// The span of a message that is traced, and the message as its handler sees it: what comes of that
/// belongs to the span.
struct arrival_span {
    message handled{};
    span_context own{};
    span_id parent{};
    std::int64_t begun_ns = 0;
};

/// One message of a batch on its way through the inbox.
struct arrival {
    const message* what = nullptr;
    const handler* by = nullptr;
    body_hash hash{};
    // New for each try, so that a late one cannot end its successor's. None for a transactional
    // handler, whose claim, if it takes one at all, is gone with its transaction.
    std::string claim_owner;
    std::unique_ptr<arrival_span> span;  // Null where nothing is traced.

    // Written by the unit, which may run twice and so begins by resetting them.
    delivery answer;
    std::string cause;         // Of an answer that keeps it from the sender: for our log.
    bool answered = false;     // Otherwise `answer` is what to say once the handler's work is in.
    bool rolled_back = false;  // On purpose: the answer does not hang on the commit.
    bool claimed = false;
    bool table_refused = false;  // The inbox's own one, whatever the message.
    wall_time claim_before{};  // When the claim ends, or ended, that it had when it was looked at.

    result<> committed;  // What became of the unit.

    /// Whether what the unit found and did came to nothing. Even an answer such as `duplicate` is
    /// void then: it may rest on what another unit of the same commit had written. A unit that was
    /// rolled back on purpose is told its own error, unless the commit failed as well.
    [[nodiscard]] bool is_void() const {
        return !committed && !(rolled_back && committed.error().code() == error_code::cancelled);
    }
    /// As the handler sees it.
    [[nodiscard]] const message& handled() const noexcept { return span ? span->handled : *what; }
    [[nodiscard]] inbox_key key() const { return {what->source, what->id}; }
    void reset() {
        answer = {};
        cause.clear();
        answered = false;
        rolled_back = false;
        claimed = false;
        table_refused = false;
        claim_before = {};
    }
    void settle(delivery with) {
        answer = std::move(with);
        answered = true;
    }
    void settle_by_store(const error& why) {
        settle(table_refused && why.code() == error_code::statement_failed
                   ? answer_inbox_refuses()
                   : answer_to_store_error(why));
        cause = why.what();
    }
};

}  // namespace posthorn
