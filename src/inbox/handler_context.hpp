#pragma once

#include <utility>

#include <posthorn/transaction.hpp>

#include "store/user_transaction.hpp"

namespace posthorn {

/// The public `context` over a unit of the store.
class handler_context final : public context {
public:
    handler_context(store_transaction& tx, const message_maker& maker, const message& received)
        : body_(tx, maker), received_(received) {}

    [[nodiscard]] const message& received() const override { return received_; }
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
        return body_.send(std::move(asked), &received_);
    }

private:
    transaction_body body_;
    const message& received_;
};

}  // namespace posthorn
