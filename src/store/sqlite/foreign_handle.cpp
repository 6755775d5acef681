#include "store/sqlite/foreign_handle.hpp"

#include <sqlite3.h>

#include "store/sqlite/connection.hpp"
#include "store/sqlite/outbox_insert.hpp"

namespace posthorn::sqlite {

result<> insert_on(sqlite3* handle, const message& body) {
    if (handle == nullptr)
        return fail(error_code::invalid_argument,
                    "the handle is null; open one on the node's own database");
    if (sqlite3_get_autocommit(handle) != 0)
        return fail(error_code::no_transaction,
                    "there is no open transaction on this handle; BEGIN one, so that the message "
                    "commits together with your change, or use node.send");
    auto insert = statement::prepare_once(handle, outbox_insert_sql);
    if (!insert) {
        if (insert.error().code() != error_code::statement_failed)
            return std::unexpected(std::move(insert).error());
        return fail(error_code::statement_failed,
                    "{}; is this handle open on the node's own database?", insert.error().what());
    }
    auto seq = insert_message(*insert, body);
    if (!seq) return std::unexpected(std::move(seq).error());
    return {};
}

}  // namespace posthorn::sqlite
