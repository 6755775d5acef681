#pragma once

#include <string>
#include <vector>

#include "conformance/store/suite.hpp"

namespace posthorn::conformance {

inline std::vector<uuid> ids(const std::vector<outbox_row>& rows) {
    std::vector<uuid> found;
    for (const auto& row : rows) found.push_back(row.body.id);
    return found;
}

/// Messages that come in a certain order, share a lane, or come twice.
class ordered_store : public store_fixture {
protected:
    message keyed(const std::string& key = "o1") {
        auto body = sample();
        body.order_key = key;
        return body;
    }
    /// Stores so many of one key; gives them as stored.
    std::vector<outbox_row> put_many(std::size_t count) {
        std::vector<outbox_row> rows;
        for (std::size_t i = 0; i < count; ++i) {
            auto body = keyed();
            rows.push_back({.seq = put(body), .body = std::move(body)});
        }
        return rows;
    }
    enqueued insert(const message& body) {
        return write<enqueued>([&](store_transaction& tx) { return tx.outbox().insert(body); });
    }
    std::int64_t epoch() { return epoch_ == 0 ? epoch_ = dispatch() : epoch_; }
    void settle_as(outbox_status to, const outbox_row& row) {
        EXPECT_EQ(settle({{.seq = row.seq, .to = to, .at = noon, .followers_wait = true}}, epoch()),
                  1);
    }
    std::vector<uuid> due_ids(wall_time now = noon) { return ids(due("billing", now).rows); }
    void set_policy(order_policy policy) {
        must([=](store_transaction& tx) { return tx.outbox().set_order_policy(policy); });
    }
    void requeue(const outbox_row& row) {
        EXPECT_TRUE(
            write<bool>([&](store_transaction& tx) { return tx.outbox().requeue(row.body.id); }));
    }
    std::vector<std::int64_t> unblocked() {
        return look<unblocked_slice>([](store_reader& reader) {
                   return reader.outbox().unblocked(std::nullopt, 100);
               })
            .seqs;
    }
    std::int64_t release(const std::vector<std::int64_t>& seqs) {
        return write<std::int64_t>(
            [&](store_transaction& tx) { return tx.outbox().release_unblocked(seqs); });
    }

private:
    std::int64_t epoch_ = 0;
};

}  // namespace posthorn::conformance
