#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <posthorn/transaction.hpp>

#include "base/result.hpp"
#include "store/message_maker.hpp"
#include "store/transaction.hpp"

namespace posthorn {

/// What a user's transaction does, whichever class the user sees.
///
/// Lifetime: the run of a unit, as the store's transaction.
/// Threads:  the writer's, inside the unit.
class transaction_body {
public:
    transaction_body(store_transaction& tx, const message_maker& maker) : tx_(tx), maker_(maker) {}

    std::int64_t execute(std::string_view sql, std::span<const sql_param> with);
    void query(std::string_view sql, std::span<const sql_param> with,
               const store_transaction::row_visitor& visit);
    uuid send(detail::send_request asked, const message* cause = nullptr);

    /// The error after which the transaction must not commit, even if the user's code caught it: an
    /// interruption or a failure of the store, which may have undone statements before it.
    [[nodiscard]] result<> intact() const;

private:
    template <class T>
    T value_of(result<T> outcome);

    store_transaction& tx_;
    const message_maker& maker_;
    std::optional<error> broken_;
};

/// The public `transaction` over a unit of the store.
class user_transaction final : public transaction {
public:
    /// What it sends without headers has those.
    user_transaction(store_transaction& tx, const message_maker& maker, std::string headers = {})
        : body_(tx, maker), headers_(std::move(headers)) {}

    [[nodiscard]] result<> intact() const { return body_.intact(); }

protected:
    std::int64_t do_execute(std::string_view sql, std::span<const sql_param> with) override {
        return body_.execute(sql, with);
    }
    void do_query(std::string_view sql, std::span<const sql_param> with,
                  const row_visitor& visit) override {
        body_.query(sql, with, visit);
    }
    uuid do_send(detail::send_request asked) override {
        if (asked.options.headers.empty()) asked.options.headers = headers_;
        return body_.send(std::move(asked));
    }

private:
    transaction_body body_;
    std::string headers_;
};

}  // namespace posthorn
