#pragma once

#include <functional>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <posthorn/node.hpp>

#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn::integration {

/// Nodes on databases in a directory of their own, through the public API.
class node_test : public testing::Test {
protected:
    using database = test::sqlite_file;

    [[nodiscard]] std::string path(const std::string& service) const {
        return directory.file(service + ".db");
    }
    /// Retries come quickly, everything goes to the nodes of this process, and the log is silent.
    [[nodiscard]] node_options options(const std::string& service) const {
        return {
            .service = service,
            .store = {.database = path(service)},
            .default_route = "inprocess:",
            .retry = {.backoff = exponential_backoff{.base = std::chrono::milliseconds(1),
                                                     .max = std::chrono::milliseconds(5),
                                                     .jitter_max = std::chrono::milliseconds(1)}},
            .log_sink = [](std::string_view) {}};
    }

    static void execute(node& on, const std::string& sql) {
        on.transact([&](transaction& tx) { tx.execute(sql); });
    }
    static std::int64_t integer(node& on, const std::string& sql) {
        return on.transact(
            [&](transaction& tx) { return tx.query_value<std::int64_t>(sql).value_or(0); });
    }
    /// Whatever the first column of the first row holds, as text.
    static std::string text(node& on, const std::string& sql) {
        std::string found;
        on.transact([&](transaction& tx) {
            found.clear();
            tx.for_each_row(
                [&](const sql_row& row) {
                    if (found.empty()) found = row.text(0);
                },
                sql);
        });
        return found;
    }

    test::temporary_directory directory;
};

/// The code of the `posthorn::error` that `call` throws; nothing if it throws none.
template <class Call>
std::optional<error_code> code_of(Call call) {
    try {
        call();
    } catch (const error& thrown) {
        return thrown.code();
    }
    return std::nullopt;
}

}  // namespace posthorn::integration
