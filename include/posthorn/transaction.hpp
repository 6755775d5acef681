#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <posthorn/detail/sql.hpp>
#include <posthorn/forward.hpp>
#include <posthorn/message.hpp>

namespace posthorn {

template <class R>
class workflow;

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
    ///
    /// Here and below the values are given one by one, or all as one `std::span<const sql_param>`.
    template <class... Args>
    std::int64_t execute(std::string_view sql, const Args&... args) {
        return do_execute(sql, detail::sql_params(args...));
    }

    /// The rows of a query, each as a tuple:
    ///
    ///     for (const auto& [id, name] : tx.query<int, std::string>("SELECT id, name FROM items"))
    ///
    /// A column that may be NULL is a `std::optional`. What does not fit is
    /// `error_code::statement_failed`: another number of columns, NULL, text for a number, a number
    /// that is too large.
    template <class... Columns, class... Args>
        requires(sizeof...(Columns) > 0)
    [[nodiscard]] std::vector<std::tuple<Columns...>> query(std::string_view sql,
                                                            const Args&... args) {
        std::vector<std::tuple<Columns...>> rows;
        const auto take = [&](const sql_row& row) {
            rows.push_back(detail::read_row<Columns...>(row));
        };
        do_query(sql, detail::sql_params(args...), std::ref(take));
        return rows;
    }

    /// The only row, if there is one. A second one is an error: say `LIMIT 1` if you mean it.
    template <class... Columns, class... Args>
        requires(sizeof...(Columns) > 0)
    [[nodiscard]] std::optional<std::tuple<Columns...>> query_one(std::string_view sql,
                                                                  const Args&... args) {
        std::optional<std::tuple<Columns...>> found;
        const auto take = [&](const sql_row& row) {
            if (found) detail::fail_second_row();
            found = detail::read_row<Columns...>(row);
        };
        do_query(sql, detail::sql_params(args...), std::ref(take));
        return found;
    }

    /// The only column of the only row. Empty if there is no row, or if it holds NULL.
    template <class Column, class... Args>
    [[nodiscard]] std::optional<Column> query_value(std::string_view sql, const Args&... args) {
        auto found = query_one<std::optional<Column>>(sql, args...);
        return found ? std::get<0>(*std::move(found)) : std::nullopt;
    }

    /// Calls `visit(const sql_row&)` for each row, for results that are too large to be kept or
    /// whose columns are known only at run time.
    template <class Visitor, class... Args>
    void for_each_row(Visitor&& visit, std::string_view sql, const Args&... args) {
        do_query(sql, detail::sql_params(args...), std::ref(visit));
    }

    /// Sends a message when the transaction commits, and gives its id. `endpoint` names a handler
    /// of the destination. Throws if the message could not be delivered as it is: too large, not
    /// the JSON it claims to be, without a destination.
    uuid send(std::string_view destination, std::string_view endpoint, std::string_view payload,
              send_options options = {}) {
        return do_send({destination, endpoint, std::string(payload), std::move(options)});
    }

    /// Sends a described message: `tx.send("inventory", order_approved{"o1", "desk-3"});`
    ///
    /// Defined where messages are described, in <posthorn/contract.hpp>.
    template <class T>
        requires(!std::convertible_to<const T&, std::string_view>)
    uuid send(std::string_view destination, const T& payload, send_options options = {});

    /// Publishes an event when the transaction commits, and gives its id: every webhook that is
    /// subscribed to its type is told of it, each with retries of its own. The type is a name such
    /// as `order.paid`.
    uuid publish(std::string_view type, std::string_view payload, publish_options options = {}) {
        return do_send(detail::event_request(type, payload, std::move(options)));
    }

    /// Stores work for a target when the transaction commits, and gives its id: the handler of its
    /// category brings it there, as soon as it can and as often as it takes.
    uuid forward(std::string_view category, std::string_view target, std::string_view payload,
                 const forward_options& options = {}) {
        return detail::forward_in(*this, category, target, payload, options);
    }

    /// Starts a workflow when the transaction commits: `tx.start(approve_order, "o1", order{…})`. Its
    /// id is its own among those of its name: one that was there before is
    /// `error_code::duplicate_id`.
    ///
    /// This and the next two are defined in <posthorn/workflow.hpp>.
    template <class R, class... Params, class... Args>
    void start(workflow<R> (*code)(Params...), std::string_view id, const Args&... args);
    /// Tells a signal to the workflows that wait for it, here and in this transaction: exactly once.
    template <class T>
    void signal(const T& said);
    /// To one workflow alone; it is kept until that waits for it.
    template <class R, class... Params, class T>
    void signal(workflow<R> (*code)(Params...), std::string_view id, const T& said);

protected:
    using row_visitor = std::function<void(const sql_row&)>;

    virtual std::int64_t do_execute(std::string_view sql, std::span<const sql_param> with) = 0;
    virtual void do_query(std::string_view sql, std::span<const sql_param> with,
                          const row_visitor& visit) = 0;
    virtual uuid do_send(detail::send_request asked) = 0;

private:
    template <class Service>
    friend class proxy;
};

/// What a transactional handler works through: its writes, what it sends and the record that the
/// message was handled commit together, so the message takes effect exactly once.
///
/// What it sends names the received message as its cause, and carries on its correlation id, tenant
/// and trace unless others are given.
class context : public transaction {
public:
    [[nodiscard]] virtual const message& received() const = 0;
};

}  // namespace posthorn
