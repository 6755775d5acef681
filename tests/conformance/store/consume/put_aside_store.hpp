#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "conformance/store/suite.hpp"
#include "consume/consume_dead.hpp"

namespace posthorn::conformance {

/// A store with the table of what brokers gave and what took no effect.
class put_aside_store : public store_fixture {
protected:
    [[nodiscard]] store_settings settings() const override { return {.above = {consume_tables()}}; }

    void put(const received_message& what, std::string_view source = "orders") {
        must(
            [&](store_transaction& tx) { return put_aside(tx, source, what, "no handler", noon); });
    }
    std::vector<consumed_dead> page(consumed_dead_filter which = {}) {
        return look<std::vector<consumed_dead>>(
            [&](store_reader& from) { return list_put_aside(from, which); });
    }
    consumed_dead whole(std::int64_t seq) {
        return look<std::optional<consumed_dead>>(
                   [&](store_reader& from) { return find_put_aside(from, seq); })
            .value();
    }
};

}  // namespace posthorn::conformance
