#pragma once

#include "store/outbox_table.hpp"
#include "store/transaction.hpp"

namespace posthorn::detail {

/// What a feature's transport gives along with an answer, to be recorded in the same transaction as
/// what becomes of the message.
///
/// Lifetime: until what became of the message is on disk.
class settle_rider {
public:
    virtual ~settle_rider() = default;

    /// Changes what is about to become of the message. On the dispatcher's strand.
    virtual void amend(const outbox_row& row, settlement& what) = 0;
    /// Writes beside it, before the message is changed. It may run twice. On a writer's thread.
    virtual result<> ride(store_transaction& tx, const settlement& what) = 0;
    /// It is on disk. On the dispatcher's strand; must not throw or block.
    virtual void landed(const settlement& what) = 0;
    /// Whether what failed was its own doing, and is left out the next time. Asked after a failure.
    [[nodiscard]] virtual bool rides_otherwise() { return false; }
    /// Whether a caller waits, so that it is not to wait for other work to be committed with.
    [[nodiscard]] virtual bool is_awaited() const = 0;
};

}  // namespace posthorn::detail
