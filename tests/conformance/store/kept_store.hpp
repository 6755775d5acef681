#pragma once

#include <vector>

#include <fmt/format.h>

#include "base/async/virtual_time.hpp"
#include "conformance/store/suite.hpp"
#include "store/dead_letters.hpp"

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
    static std::string at(wall_time time) {
        return std::to_string(time.time_since_epoch().count());
    }
    /// A row of the inbox, as a program may write one.
    void receive(int id, const std::string& processed_at, const std::string& expires_at) {
        EXPECT_EQ(disk().connect()->run(fmt::format(
                      "INSERT INTO inbox_messages (source_service_id, message_id, endpoint, "
                      "body_hash, processed_at, expires_at) VALUES ('shop', '{}', 'Charge', {}, "
                      "{}, {})",
                      id, fmt::format(fmt::runtime(disk().speaks().bytes), "00"), processed_at,
                      expires_at)),
                  std::nullopt);
    }
    /// To 30 days; gives how many.
    std::size_t shorten() {
        return write<slice_outcome>([&](store_transaction& tx) {
                   return tx.old().shorten_received(std::chrono::days{30}, noon,
                                                    slice(still_, 100, std::chrono::hours{1}));
               })
            .rows;
    }
    /// As a node does, until there is no more; gives how many rows were mended.
    std::size_t mend(std::size_t rows = 2) {
        std::size_t mended = 0;
        slice_outcome done{.more = true};
        while (done.more && !HasFailure()) {
            done = write<slice_outcome>([&](store_transaction& tx) {
                return tx.old().mend_beside(slice(still_, rows, std::chrono::hours{1}));
            });
            mended += done.rows;
        }
        return mended;
    }
    /// What was stored is taken in where that has to be done, and `account_for` made good.
    void settle_down() {
        due("billing", noon);
        mend(100);
    }
    /// Finds the causes of dead ones.
    void group() {
        must([](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.dead_letters().group_some(100));
            return {};
        });
    }
    /// What the tables beside messages say, to be compared.
    std::string beside() {
        return text(
            "SELECT coalesce((SELECT sum(seq * 7 + length(status) + coalesce(cause_id, 0))"
            " FROM outbox_closed), 0) || ' ' || (SELECT count(*) FROM outbox_attempts) || ' ' ||"
            " (SELECT count(*) FROM outbox_ended) || ' ' ||"
            " coalesce((SELECT sum(dead) FROM outbox_causes), 0)");
    }

    virtual_time still_;
};

/// One whose file has pages to give back.
class paged_store : public kept_store {};

}  // namespace posthorn::conformance
