#include "store/postgres/schema/schema_use.hpp"

namespace posthorn::postgres {
namespace {

constexpr std::string_view key = "hashtextextended('posthorn use of ' || $name${s}$name$, 2)";

result<bool> try_lock(connection& database, std::string_view function) {
    POSTHORN_LET(got, database.ask(fmt::format("SELECT {}({})", function, key)));
    return got.front().integer(0) != 0;
}

}  // namespace

result<> join_schema(connection& database) {
    const auto got = try_lock(database, "pg_try_advisory_lock_shared");
    POSTHORN_TRY(got);
    if (*got) return {};
    return fail(error_code::store_busy,
                "a store is being copied into the schema {} by 'posthorn migrate'; wait for its "
                "end",
                database.schema());
}

result<> take_schema_alone(connection& database) {
    const auto got = try_lock(database, "pg_try_advisory_lock");
    POSTHORN_TRY(got);
    if (*got) return {};
    return fail(error_code::store_busy,
                "the schema {} of the server is in use by a node, a command, or another copy; "
                "stop it (pg_stat_activity names the sessions, their application_name begins with "
                "'posthorn'), or choose another schema with --schema",
                database.schema());
}

}  // namespace posthorn::postgres
