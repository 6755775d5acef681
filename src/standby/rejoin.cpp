#include "standby/rejoin.hpp"

#include <tuple>

#include "standby/plain_file.hpp"
#include "store/sqlite/driver/connection.hpp"
#include "store/sqlite/driver/file_locks.hpp"

namespace posthorn::standby {
namespace {

namespace fs = std::filesystem;

/// Of one stream and epoch there is one such file, so that a repeat goes on with it.
fs::path kept_name(const fs::path& database, const pair_state& state) {
    return database.parent_path() / fmt::format("{}.epoch-{}-{}.db", database.stem().string(),
                                                state.epoch, to_hex(state.stream).substr(0, 8));
}

result<> move_if_there(const fs::path& from, const fs::path& to) {
    std::error_code failure;
    if (!fs::exists(from, failure)) return {};
    if (fs::exists(to, failure))
        return fail(error_code::invalid_argument,
                    "{} is there already; move it away, since {} is to be kept under that name",
                    to.string(), from.string());
    fs::rename(from, to, failure);
    if (!failure) return {};
    return fail(error_code::io_failed, "cannot move {} to {}: {}", from.string(), to.string(),
                failure.message());
}

}  // namespace

result<rejoin_report> rejoin(const fs::path& database) {
    POSTHORN_LET(state, load_state(database));
    if (!state || state->as != pair_state::role::primary)
        return fail(error_code::invalid_argument,
                    "{} is not a primary's, and needs no rejoining; 'posthorn standby follow' "
                    "copies what is missing",
                    database.string());
    rejoin_report done{.kept = kept_name(database, *state)};
    {
        POSTHORN_LET(alone, sqlite::sole_use::take(database.string()));
        std::ignore = alone;
        // The log first: without it the database would seem to be older than it is.
        for (const auto* const beside : {"-wal", "-journal", ""})
            POSTHORN_TRY(move_if_there(database.string() + beside, done.kept.string() + beside));
        std::error_code unusable;
        fs::remove(database.string() + "-shm", unusable);
        POSTHORN_TRY(sync_names_beside(database));
    }
    // Last, so that until then a repeat knows what it was.
    std::error_code failure;
    fs::remove(state_file_of(database), failure);
    if (failure)
        return fail(error_code::io_failed, "cannot remove {}: {}", state_file_of(database).string(),
                    failure.message());
    POSTHORN_TRY(sync_names_beside(database));
    if (auto opened = sqlite::connection::open({.path = done.kept.string()}))
        if (auto found =
                opened->integer("SELECT count(*) FROM outbox_messages WHERE status = 'Pending'"))
            done.pending = *found;
    return done;
}

}  // namespace posthorn::standby
