#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "app/config/config.hpp"

namespace posthorn {

/// How one C++ type is written in the configuration.
///
/// `name` is for the documentation, `wanted` for users who wrote something else; `read` is empty if
/// the value has another type or is not a usable one; `show` writes what `read` would read.
template <class T>
struct config_type;

template <>
struct config_type<std::string> {
    static constexpr std::string_view name = "string";
    static constexpr std::string_view wanted = "a string that is not empty, such as \"orders\"";
    static std::optional<std::string> read(const config_value& value);
    static std::string show(const std::string& value) { return value; }
};

template <>
struct config_type<bool> {
    static constexpr std::string_view name = "boolean";
    static constexpr std::string_view wanted = "true or false, without quotes";
    static std::optional<bool> read(const config_value& value);
    static std::string show(bool value) { return value ? "true" : "false"; }
};

template <>
struct config_type<std::int64_t> {
    static constexpr std::string_view name = "integer";
    static constexpr std::string_view wanted = "a whole number without quotes, such as 50";
    static std::optional<std::int64_t> read(const config_value& value);
    static std::string show(std::int64_t value) { return std::to_string(value); }
};

template <>
struct config_type<double> {
    static constexpr std::string_view name = "number";
    static constexpr std::string_view wanted = "a number without quotes, such as 0.2";
    static std::optional<double> read(const config_value& value);
    static std::string show(double value);
};

template <>
struct config_type<std::chrono::milliseconds> {
    static constexpr std::string_view name = "duration";
    static constexpr std::string_view wanted =
        R"(a duration with its unit, such as "500ms", "10s", "5m", "24h" or "7d")";
    static std::optional<std::chrono::milliseconds> read(const config_value& value);
    static std::string show(std::chrono::milliseconds value);
};

template <>
struct config_type<std::optional<std::chrono::milliseconds>> {
    static constexpr std::string_view name = "duration";
    static constexpr std::string_view wanted =
        R"(a duration with its unit, such as "24h" or "7d", or "never")";
    static std::optional<std::optional<std::chrono::milliseconds>> read(const config_value& value);
    static std::string show(const std::optional<std::chrono::milliseconds>& value) {
        return value ? config_type<std::chrono::milliseconds>::show(*value) : "never";
    }
};

template <>
struct config_type<feature_tables> {
    static constexpr std::string_view name = "list of tables";
    static constexpr std::string_view wanted = R"(a list of tables, such as [{ url = "…" }])";
    static std::optional<feature_tables> read(const config_value& value);
    /// How many, since they may hold secrets.
    static std::string show(const feature_tables& value);
};

template <>
struct config_type<vacuum_mode> {
    static constexpr std::string_view name = "vacuum";
    static constexpr std::string_view wanted = R"("incremental", "weekly" or "never")";
    static std::optional<vacuum_mode> read(const config_value& value);
    static std::string show(vacuum_mode value);
};

template <>
struct config_type<byte_size> {
    static constexpr std::string_view name = "size";
    static constexpr std::string_view wanted = R"(a size, such as "1MiB", "64KiB" or 4096)";
    static std::optional<byte_size> read(const config_value& value);
    static std::string show(byte_size value);
};

template <>
struct config_type<std::filesystem::path> {
    static constexpr std::string_view name = "path";
    static constexpr std::string_view wanted = "the path of a file, or \"\" for none";
    static std::optional<std::filesystem::path> read(const config_value& value);
    static std::string show(const std::filesystem::path& value) { return value.string(); }
};

template <>
struct config_type<database_url> {
    static constexpr std::string_view name = "database";
    static constexpr std::string_view wanted =
        "\"sqlite:PATH\", such as \"sqlite:data/orders.db\", or "
        "\"postgresql://user@host/database\", or \"memory:\" for a test";
    static std::optional<database_url> read(const config_value& value);
    /// Without the password.
    static std::string show(const database_url& value);
};

template <>
struct config_type<std::optional<database_url>> {
    static constexpr std::string_view name = "database";
    static constexpr std::string_view wanted = "\"sqlite:PATH\", or \"\" for the same database";
    static std::optional<std::optional<database_url>> read(const config_value& value);
    static std::string show(const std::optional<database_url>& value) {
        return value ? config_type<database_url>::show(*value) : "";
    }
};

template <>
struct config_type<std::optional<host_port>> {
    static constexpr std::string_view name = "address";
    static constexpr std::string_view wanted =
        "\"ADDRESS:PORT\", such as \"127.0.0.1:7400\", \"[::1]:7400\" or \"0.0.0.0:7400\" "
        "(port 0 is any free one), or \"\" for none";
    static std::optional<std::optional<host_port>> read(const config_value& value);
    static std::string show(const std::optional<host_port>& value) {
        return value ? to_string(*value) : "";
    }
};

template <>
struct config_type<sql_setting> {
    static constexpr std::string_view name = "SQL";
    static constexpr std::string_view wanted =
        R"("sql:STATEMENTS", such as "sql:UPDATE orders SET state = 'failed' WHERE )"
        R"(charge_id = :_correlation_id", or "" for none)";
    static std::optional<sql_setting> read(const config_value& value);
    static std::string show(const sql_setting& value) {
        return value.text.empty() ? "" : "sql:" + value.text;
    }
};

template <>
struct config_type<sqlite::synchronous> {
    static constexpr std::string_view name = "synchronous";
    static constexpr std::string_view wanted = R"("full" or "normal")";
    static std::optional<sqlite::synchronous> read(const config_value& value);
    static std::string show(sqlite::synchronous value);
};

template <>
struct config_type<defaults_name> {
    static constexpr std::string_view name = "defaults";
    static constexpr std::string_view wanted =
        R"(one of "messaging", "webhooks", "store-and-forward", "integration-events", "workflow")";
    static std::optional<defaults_name> read(const config_value& value);
    static std::string show(defaults_name value);
};

template <>
struct config_type<order_policy> {
    static constexpr std::string_view name = "order";
    static constexpr std::string_view wanted = R"("park" or "pass")";
    static std::optional<order_policy> read(const config_value& value);
    static std::string show(order_policy value);
};

template <>
struct config_type<node_parts> {
    static constexpr std::string_view name = "parts";
    static constexpr std::string_view wanted = R"("both", "inbox" or "outbox")";
    static std::optional<node_parts> read(const config_value& value);
    static std::string show(node_parts value);
};

template <>
struct config_type<retry_kind> {
    static constexpr std::string_view name = "retry";
    static constexpr std::string_view wanted = R"("exponential" or "fixed")";
    static std::optional<retry_kind> read(const config_value& value);
    static std::string show(retry_kind value);
};

template <>
struct config_type<hmac_algorithm> {
    static constexpr std::string_view name = "algorithm";
    static constexpr std::string_view wanted = R"("HMAC-SHA256", the only one there is)";
    static std::optional<hmac_algorithm> read(const config_value& value);
    static std::string show(hmac_algorithm value);
};

template <>
struct config_type<log_level> {
    static constexpr std::string_view name = "level";
    static constexpr std::string_view wanted =
        R"(one of "trace", "debug", "info", "warn", "error")";
    static std::optional<log_level> read(const config_value& value);
    static std::string show(log_level value);
};

template <>
struct config_type<log_format> {
    static constexpr std::string_view name = "format";
    static constexpr std::string_view wanted = R"("text" or "json")";
    static std::optional<log_format> read(const config_value& value);
    static std::string show(log_format value);
};

}  // namespace posthorn
