#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/node.hpp"
#include "store/claim_table.hpp"

namespace posthorn::conformance {

using test::postgres_client;

/// Messages of plain SQL.
inline std::string insert(int rows = 1) {
    return fmt::format(
        "INSERT INTO outbox_messages (destination, endpoint, payload)"
        " SELECT 'billing', 'Charge', '{{}}' FROM generate_series(1, {})",
        rows);
}

/// A node that takes in what others store, and some who do.
class postgres_intake : public on_postgres {
protected:
    a_store& node() { return node_; }
    /// Who stores something with this has to do it well.
    void must(postgres_client& who, const std::string& sql) {
        ASSERT_EQ(who.run(sql), std::nullopt) << sql;
    }
    bool take_in(std::size_t rows_max = 100, std::int64_t epoch = 0) {
        bool more = false;
        EXPECT_TRUE(succeeded(node_.run([&](store_transaction& tx) -> result<> {
            std::vector<std::string> claimed;
            if (epoch != 0) claimed.emplace_back("billing");
            const auto taken = node_.claims_in(tx).take_in(
                {.rows_max = rows_max, .epoch = epoch, .claimed = std::move(claimed)});
            if (!taken) return std::unexpected(taken.error());
            more = taken->is_more;
            return {};
        })));
        return more;
    }
    bool has_arrivals() {
        bool some = false;
        EXPECT_TRUE(succeeded(node_.get().read([&](store_reader& reader) -> result<> {
            const auto found = node_.get().sharing()->has_arrivals(reader);
            if (!found) return std::unexpected(found.error());
            some = *found;
            return {};
        })));
        return some;
    }
    std::vector<std::int64_t> due() {
        std::vector<std::int64_t> seqs;
        for (const auto& row : eye_.rows("SELECT seq FROM outbox_due ORDER BY seq"))
            seqs.push_back(std::stoll(row.at(0).value_or("0")));
        return seqs;
    }
    void dispatch() { dispatch_from(node_); }
    std::vector<std::int64_t> claim() { return on_postgres::claim(node_); }

private:
    a_store node_{place_};

protected:
    postgres_client producer_{place_.url()};
    postgres_client other_{place_.url()};
    postgres_client eye_{place_.url()};
};

}  // namespace posthorn::conformance
