#pragma once

#include <vector>

#include <fmt/format.h>

#include "base/async/virtual_time.hpp"
#include "conformance/store/suite.hpp"

namespace posthorn::conformance {

/// A store whose old rows go.
class kept_store : public store_fixture {
protected:
    slice_outcome purge(row_kind kind, wall_time before, std::size_t rows = 100) {
        return write<slice_outcome>([&](store_transaction& tx) {
            return tx.old().purge(kind, before, slice(still_, rows, std::chrono::hours{1}));
        });
    }
    /// Messages that ended an hour after one another, from noon on.
    std::vector<message> ended(int count, outbox_status to) {
        const auto epoch = dispatch();
        std::vector<message> bodies;
        for (int i = 0; i < count; ++i) {
            const auto seq = put(bodies.emplace_back(sample()));
            const settlement failed{
                .seq = seq, .at = noon, .next_attempt_at = noon, .charged = true, .error = "once"};
            auto retry = failed;
            retry.to = outbox_status::pending;
            auto end = failed;
            end.to = to;
            end.at = noon + std::chrono::hours{i};
            end.charged = false;
            settle({retry}, epoch);
            settle({end}, epoch);
            if (to != outbox_status::sent) account_for(seq, to, end.at);
        }
        return bodies;
    }
    /// As the store does it when a message is closed.
    void account_for(std::int64_t seq, outbox_status to, wall_time at) {
        must(fmt::format("DELETE FROM outbox_closed WHERE seq = {}", seq));
        must(fmt::format("INSERT INTO outbox_closed (seq, status, at) VALUES ({}, '{}', {})", seq,
                         to_string(to), at.time_since_epoch().count()));
    }

    virtual_time still_;
};

/// One whose file has pages to give back.
class paged_store : public kept_store {};

}  // namespace posthorn::conformance
