#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "conformance/store/suite.hpp"
#include "forward/audit/audit_rows.hpp"
#include "forward/forward_rows.hpp"
#include "forward/forward_tables.hpp"

namespace posthorn::conformance {

/// A store with the tables of store-and-forward.
class forward_store : public store_fixture {
protected:
    [[nodiscard]] store_settings settings() const override { return {.above = {forward_tables()}}; }

    /// As any program may; gives its id.
    std::string hold(int category, const std::string& target = "erp") {
        must(fmt::format(
            "INSERT INTO sf_messages (category, target, payload_json, max_retries, origin_instance)"
            " VALUES ({}, '{}', '{{\"order\":1}}', 3, 'line 3')",
            category, target));
        return text("SELECT message_id FROM outbox_messages ORDER BY seq DESC LIMIT 1");
    }
    std::string text(const std::string& sql) {
        return look<std::string>([&](store_reader& from) -> result<std::string> {
            std::string found;
            POSTHORN_TRY(from.query(sql, {}, [&](const sql_row& row) { found = row.text(0); }));
            return found;
        });
    }
    std::string tracked(const std::string& id) {
        return text(fmt::format(
            "SELECT Status FROM OperationTracking WHERE TrackedOperationId = '{}'", id));
    }
    forward_total total(const std::string& category) {
        const auto all = look<std::vector<forward_total>>(
            [](store_reader& from) { return read_forward_totals(from); });
        for (const auto& each : all)
            if (each.category == category) return each;
        return {};
    }
    void set_status(const std::string& id, const std::string& status) {
        must(
            fmt::format("UPDATE outbox_messages SET status = '{}', last_error = 'no paper'"
                        " WHERE message_id = '{}'",
                        status, id));
    }
    bool change(result<bool> (*what)(store_transaction&, const uuid&), const std::string& id) {
        return write<bool>([&](store_transaction& tx) { return what(tx, *uuid::parse(id)); });
    }
    /// Writes an attempt of it down.
    void attempt(const std::string& id, const std::string& outcome) {
        must([&](store_transaction& tx) {
            return write_audit(tx, {.id = *uuid::parse(id),
                                    .channel = "ApiOutbound",
                                    .category = "ExternalSystem",
                                    .target = "erp",
                                    .source_site = "plant 7",
                                    .outcome = outcome,
                                    .retry_count = 3,
                                    .last_error = "no paper",
                                    .http_status = 503,
                                    .created_at = noon,
                                    .occurred_at = noon + std::chrono::seconds{1},
                                    .duration = std::chrono::milliseconds{17},
                                    .source_instance = "press",
                                    .execution_id = "e1",
                                    .source_script = "ship.lua",
                                    .parent_execution_id = ""});
        });
    }
    std::vector<audited_attempt> audit(const std::string& id) {
        return look<std::vector<audited_attempt>>(
            [&](store_reader& from) { return read_audit(from, *uuid::parse(id), 2000); });
    }
    bool forget(const untold_decision& one) {
        return write<bool>([&](store_transaction& tx) { return forget_untold(tx, one); });
    }
    /// What is still to be told.
    std::vector<untold_decision> untold() {
        return look<std::vector<untold_decision>>(
            [](store_reader& from) { return read_untold(from, 100); });
    }
};

}  // namespace posthorn::conformance
