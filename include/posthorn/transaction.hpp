#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <posthorn/contract.hpp>
#include <posthorn/detail/sql.hpp>
#include <posthorn/message.hpp>

namespace posthorn {

/// An open transaction: what is written and what is sent through it commits together or not at all.
///
/// Lifetime: the function it is given to; never kept. That function may run a second time, when
///           other work broke the commit it was to share, so it touches nothing else.
/// Threads:  the one that runs the function.
class transaction {
public:
    transaction() = default;
    transaction(const transaction&) = delete;
    transaction& operator=(const transaction&) = delete;
    virtual ~transaction() = default;

    /// Runs a statement with its `?` filled in and gives the number of rows it changed. Throws
    /// `posthorn::error`; transaction control, ATTACH and PRAGMA are refused.
    template <class... Args>
    std::int64_t execute(std::string_view sql, const Args&... args) {
        const std::array<sql_param, sizeof...(Args)> with{to_sql_param(args)...};
        return do_execute(sql, with);
    }

    /// The same with values whose number is known only at run time.
    std::int64_t execute(std::string_view sql, std::span<const sql_param> with) {
        return do_execute(sql, with);
    }

    /// Calls `visit(const sql_row&)` for each row.
    template <class Visitor, class... Args>
    void query(std::string_view sql, Visitor&& visit, const Args&... args) {
        const std::array<sql_param, sizeof...(Args)> with{to_sql_param(args)...};
        do_query(sql, with, std::ref(visit));
    }

    template <class Visitor>
    void query(std::string_view sql, Visitor&& visit, std::span<const sql_param> with) {
        do_query(sql, with, std::ref(visit));
    }

    /// The first column of the first row. Empty if there is no row, or if it holds NULL.
    template <class T, class... Args>
    [[nodiscard]] std::optional<T> get(std::string_view sql, const Args&... args) {
        std::optional<T> found;
        bool is_first = true;
        const auto take = [&](const sql_row& row) {
            if (std::exchange(is_first, false) && !row.is_null(0)) found = row.get<T>(0);
        };
        query(sql, take, args...);
        return found;
    }

    /// Sends a message when the transaction commits, and gives its id. `endpoint` names a handler
    /// of the destination. Throws if the message could not be delivered as it is: too large, not
    /// the JSON it claims to be, without a destination.
    uuid send(std::string_view destination, std::string_view endpoint, std::string_view payload,
              send_options options = {}) {
        return do_send(destination, endpoint, payload, std::move(options));
    }

    /// Sends a described message: `tx.send("inventory", order_approved{"o1", "desk-3"});`
    template <class T>
        requires(!std::convertible_to<const T&, std::string_view>)
    uuid send(std::string_view destination, const T& payload, send_options options = {}) {
        if constexpr (detail::check_message<T>())
            return do_send(destination, endpoint_of<T>, encode(payload),
                           detail::options_for(payload, std::move(options)));
        else
            return {};
    }

protected:
    using row_visitor = std::function<void(const sql_row&)>;

    virtual std::int64_t do_execute(std::string_view sql, std::span<const sql_param> with) = 0;
    virtual void do_query(std::string_view sql, std::span<const sql_param> with,
                          const row_visitor& visit) = 0;
    virtual uuid do_send(std::string_view destination, std::string_view endpoint,
                         std::string_view payload, send_options options) = 0;
};

}  // namespace posthorn
