#pragma once

#include <string>

#include <fmt/format.h>

#include "conformance/store/suite.hpp"
#include "engine/rows/engine_tables.hpp"
#include "engine/rows/workflow_rows.hpp"
#include "engine/steps/matchmaker.hpp"
#include "engine/steps/step_writer.hpp"
#include "engine/workflow_retention.hpp"

namespace posthorn::conformance {

/// A store with the tables of workflows.
class workflow_store : public store_fixture {
protected:
    [[nodiscard]] store_settings settings() const override { return {.above = {engine_tables()}}; }

    std::int64_t add_instance(const std::string& id) {
        must(fmt::format(
            "INSERT INTO workflow_instances (workflow, id, status) VALUES ('W', '{}', 'running')",
            id));
        return number(fmt::format("SELECT instance FROM workflow_instances WHERE id = '{}'", id));
    }
    /// A wait for `Decided` of an order, of at least a level.
    void wait_for(std::int64_t instance, std::uint32_t command, const std::string& order,
                  int level = 0, bool exclusive = false) {
        const auto terms = fmt::format(
            R"([["orderId","==","text","{}"],["level",">=","integer",{}]])", order, level);
        must([=](store_transaction& tx) {
            return add_wait(tx, {.instance = instance,
                                 .command = command,
                                 .signal = "Decided",
                                 .terms = terms,
                                 .exclusive = exclusive});
        });
    }
    /// Stores a signal and matches all that were not.
    void tell(const std::string& order, int level) {
        must(
            fmt::format("INSERT INTO workflow_signals (signal, payload) VALUES ('Decided',"
                        " '{{\"orderId\":\"{}\",\"level\":{}}}')",
                        order, level));
        match_all();
    }
    /// As many a unit as a node takes.
    void match_all() {
        for (bool is_more = true; is_more;) {
            is_more = false;
            must([&](store_transaction& tx) -> result<> {
                std::vector<std::int64_t> some;
                POSTHORN_TRY(ask(tx,
                                 "SELECT seq FROM workflow_signals WHERE matched_at IS NULL"
                                 " ORDER BY seq LIMIT 100",
                                 [&](const sql_row& row) { some.push_back(row.integer(0)); }));
                for (const auto seq : some) POSTHORN_TRY(match_signal(tx, seq, {}, noon));
                is_more = some.size() == 100;
                return {};
            });
        }
    }
    /// Whether there was a new set of fields that early signals were indexed by.
    bool index_slice() {
        bool is_any = false;
        must([&](store_transaction& tx) -> result<> {
            POSTHORN_LET(done, index_early_signals(tx, 250));
            is_any = done;
            return {};
        });
        return is_any;
    }
    static const message_maker& test_maker() {
        static const real_clock time;
        static seeded_random random(1);
        static uuid_generator ids([] { return noon; }, random);
        static const message_maker maker({.source = "orders"}, time, ids);
        return maker;
    }
    std::int64_t mail_of(std::int64_t instance) {
        return number(
            fmt::format("SELECT count(*) FROM workflow_mailbox WHERE instance = {}", instance));
    }
    std::int64_t unclaimed() {
        return number("SELECT count(DISTINCT seq) FROM workflow_unclaimed");
    }
};

}  // namespace posthorn::conformance
