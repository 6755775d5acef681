#include "store/sqlite/commit/foreign_handle.hpp"

#include <sqlite3.h>

#include "store/rows/outbox_rows.hpp"
#include "store/sqlite/tables/outbox_insert.hpp"
#include "store/statements/outbox_changes_sql.hpp"

namespace posthorn::sqlite {
namespace {

// By what is on the disk, since a file has many names.
bool is_open_on(sqlite3* handle, const std::filesystem::path& file) {
    const char* const name = sqlite3_db_filename(handle, "main");
    std::error_code missing;
    return name != nullptr && std::filesystem::equivalent(name, file, missing);
}

}  // namespace

result<uuid> insert_on(sqlite3* handle, const std::filesystem::path& file, const message& body) {
    if (handle == nullptr)
        return fail(error_code::invalid_argument,
                    "the handle is null; open one on the node's own database");
    if (!is_open_on(handle, file))
        return fail(
            error_code::invalid_argument,
            "the handle's main database is not the node's own database, '{}'; open a handle "
            "on that, so that the message commits together with your change",
            file.string());
    if (sqlite3_get_autocommit(handle) != 0)
        return fail(error_code::no_transaction,
                    "there is no open transaction on this handle; BEGIN one, so that the message "
                    "commits together with your change, or use node.send");
    statement find(handle, outbox_changes_texts.known.sqlite);
    POSTHORN_LET(known,
                 find_known(body, [&] { return find.run(body.destination, body.dedupe_key); }));
    if (known) return known->id;
    statement insert(handle, outbox_insert_sql);
    POSTHORN_TRY(insert_message(insert, body));
    return body.id;
}

}  // namespace posthorn::sqlite
