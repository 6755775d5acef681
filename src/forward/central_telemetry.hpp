#pragma once

#include <string>
#include <string_view>

#include <posthorn/forward.hpp>

#include "store/message_maker.hpp"
#include "store/transaction.hpp"

namespace posthorn {

/// What the centre is told of a tracked operation: where it stands, and the attempt that brought it
/// there, unless a person did. Pure.
[[nodiscard]] std::string write_telemetry(const tracked_operation& stands,
                                          const forward_attempt* after, std::string_view site);

/// Where an operation stands after an attempt that is about to be recorded. Pure.
[[nodiscard]] tracked_operation standing_after(const forward_attempt& seen, outbox_status to,
                                               wall_time at);

/// Tells the centre what becomes of tracked operations, as CachedCallTelemetry: a message in the
/// transaction that changes the operation, so each comes there exactly once, and those of one
/// operation in their order.
///
/// Lifetime: as the node's.
/// Threads:  any.
class central_telemetry {
public:
    struct deps {
        std::string centre;  // The service.
        std::string site;
        const message_maker& maker;
    };

    explicit central_telemetry(deps with) : with_(std::move(with)) {}

    /// After an attempt.
    result<> tell(store_transaction& tx, const tracked_operation& stands,
                  const forward_attempt& seen) const;
    /// Where it stands now, after something else than an attempt has changed that.
    result<> tell_standing(store_transaction& tx, const uuid& id) const;

private:
    [[nodiscard]] detail::send_request request(const tracked_operation& stands,
                                               const forward_attempt* after) const;
    result<> send(store_transaction& tx, detail::send_request what) const;

    deps with_;
};

}  // namespace posthorn
