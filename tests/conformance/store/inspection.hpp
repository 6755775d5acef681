#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/store/suite.hpp"

namespace posthorn::conformance {

/// The claims about what a person sees, with short ways to look.
class inspected_store : public store_fixture {
protected:
    bounded_count count(outbox_status status, std::int64_t at_most = 100) {
        return look<bounded_count>(
            [&](store_reader& from) { return from.inspect().count(status, at_most); });
    }
    message_list list(const message_filter& wanted) {
        return look<message_list>([&](store_reader& from) { return from.inspect().list(wanted); });
    }
    inbox_list list(const inbox_filter& wanted) {
        return look<inbox_list>([&](store_reader& from) { return from.inspect().list(wanted); });
    }
    backlog_report backlog(wall_time now, const backlog_limits& limits = {}) {
        return look<backlog_report>(
            [&](store_reader& from) { return from.inspect().backlog(now, limits); });
    }
    std::optional<message_detail> show(const uuid& id, bool with_payload) {
        return look<std::optional<message_detail>>(
            [&](store_reader& from) { return from.inspect().show(id, with_payload); });
    }
    std::vector<std::int64_t> seqs(const message_filter& wanted) {
        std::vector<std::int64_t> found;
        for (const auto& row : list(wanted).rows) found.push_back(row.seq);
        return found;
    }
    std::int64_t put_as(outbox_status status, message body) {
        const auto seq = put(std::move(body));
        settle({{.seq = seq, .to = status, .at = noon + std::chrono::seconds{1}, .error = "why"}},
               epoch());
        return seq;
    }
    void take_in(std::string_view source, int times) {
        for (int i = 0; i < times; ++i) {
            must([&, id = new_id()](store_transaction& tx) -> result<> {
                POSTHORN_TRY(tx.inbox().insert({.key = {source, id},
                                                .endpoint = "OrderApproved",
                                                .processed_at = noon,
                                                .expires_at = noon + std::chrono::hours{48}}));
                return {};
            });
        }
    }
    std::int64_t epoch() {
        if (epoch_ == 0) epoch_ = dispatch();
        return epoch_;
    }

private:
    std::int64_t epoch_ = 0;
};

/// Messages of order keys, and a person who looks.
class inspected_order : public inspected_store {
protected:
    message keyed(const std::string& key, const std::string& tenant = {}) {
        auto body = sample();
        body.order_key = key;
        body.tenant = tenant;
        return body;
    }
    /// Stores it and gives it up, a second past noon.
    std::string give_up(outbox_status as, const message& body) {
        put_as(as, body);
        return body.id.to_string();
    }
    blocked_report blocked(const blocked_limits& limits = {}) {
        return look<blocked_report>(
            [&](store_reader& from) { return from.inspect().blocked(limits); });
    }
    std::optional<order_blocker> behind(const message& body) {
        const auto seen = show(body.id, false);
        EXPECT_TRUE(seen);
        return seen ? seen->waits_behind : std::nullopt;
    }
    void set_policy(order_policy policy) {
        must([=](store_transaction& tx) { return tx.outbox().set_order_policy(policy); });
    }
};

}  // namespace posthorn::conformance
