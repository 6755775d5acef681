#include "standby/rejoin.hpp"

#include <charconv>
#include <tuple>
#include <utility>

#include "standby/change/log_cut.hpp"
#include "standby/change/switch_rules.hpp"
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

/// A second name of the database beside a cut copy of its log: the database as it was there.
class cut_view {
public:
    static result<cut_view> make(const fs::path& database, const log_place& at) {
        cut_view made(database.string() + ".parting");
        made.remove();
        std::error_code failure;
        fs::create_hard_link(database, made.path_, failure);
        if (failure)
            return fail(error_code::io_failed, "cannot look at {} as it was: {}", database.string(),
                        failure.message());
        POSTHORN_TRY(copy_log(database, at, made.path_.string() + "-wal"));
        return made;
    }
    ~cut_view() {
        if (!path_.empty()) remove();
    }
    cut_view(cut_view&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    cut_view& operator=(cut_view&&) = delete;
    cut_view(const cut_view&) = delete;
    cut_view& operator=(const cut_view&) = delete;
    [[nodiscard]] std::string path() const { return path_.string(); }

private:
    explicit cut_view(fs::path path) : path_(std::move(path)) {}
    void remove() const {
        std::error_code unusable;
        for (const auto* const beside : {"", "-wal", "-shm"})
            fs::remove(path_.string() + beside, unusable);
    }
    fs::path path_;
};

/// What is behind the place, for a person to see to; empty if it cannot be read.
std::optional<sqlite::parted_messages> messages_behind(const fs::path& database,
                                                       const log_place& at) {
    const auto there = cut_view::make(database, at);
    if (!there) return std::nullopt;
    const auto numbers = sqlite::numbers_of(there->path());
    if (!numbers) return std::nullopt;
    auto found = sqlite::messages_after(database.string(), *numbers);
    if (!found) return std::nullopt;
    return *std::move(found);
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

/// All of it is kept aside, and copied anew.
result<rejoin_report> begin_anew(const fs::path& database, const pair_state& state,
                                 std::string why) {
    rejoin_report done{.kept = kept_name(database, state), .why = std::move(why)};
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

/// Empty, with the reason, where it cannot be done after all.
result<std::optional<rejoin_report>> cut(const fs::path& database, const pair_state& state,
                                         const new_history& now, std::string& why) {
    POSTHORN_LET(tail, find_tail(database, now.began));
    if (!tail) {
        why = "its log has no transaction that ends where the other history began";
        return std::nullopt;
    }
    if (tail->is_in_file) {
        why = "others have copied its log into the file, behind where the other history began";
        return std::nullopt;
    }
    rejoin_report done{.was_cut = true};
    if (tail->pages > 0) {
        done.lost = messages_behind(database, now.began);
    } else {
        done.lost.emplace();
    }
    POSTHORN_LET(alone, sqlite::sole_use::take(database.string()));
    std::ignore = alone;
    POSTHORN_LET(still, find_tail(database, now.began));
    if (!still || still->end != tail->end || still->is_in_file)
        return fail(error_code::state_changed, "{} was written meanwhile; stop its writers first",
                    database.string());
    auto joins = become_standby(state, now.epoch);
    joins.parting = now.began;
    POSTHORN_TRY(save_state(database, joins));
    if (tail->pages > 0) done.kept = tail_file_of(database, joins);
    POSTHORN_TRY(finish_cut(database, joins));
    return done;
}

}  // namespace

std::string to_text(const new_history& what) {
    return fmt::format("{}/{}/{}", to_hex(what.stream), what.epoch, to_text(what.began));
}

std::optional<new_history> parse_new_history(std::string_view text) {
    new_history made;
    const auto first = text.find('/');
    const auto last = text.rfind('/');
    if (first == std::string_view::npos || first == last || first != 2 * made.stream.size())
        return std::nullopt;
    for (std::size_t i = 0; i < made.stream.size(); ++i) {
        unsigned byte = 0;
        const auto* const from = text.data() + (2 * i);
        const auto [end, wrong] = std::from_chars(from, from + 2, byte, 16);
        if (wrong != std::errc{} || end != from + 2) return std::nullopt;
        made.stream[i] = static_cast<std::byte>(byte);
    }
    const auto epoch = text.substr(first + 1, last - first - 1);
    const auto [end, wrong] =
        std::from_chars(epoch.data(), epoch.data() + epoch.size(), made.epoch);
    const auto began = parse_log_place(text.substr(last + 1));
    if (wrong != std::errc{} || end != epoch.data() + epoch.size() || !began) return std::nullopt;
    made.began = *began;
    return made;
}

std::string refuse_cut(const pair_state& old, const std::optional<new_history>& now) {
    if (!now) return "how the history of the primary of now began was not told";
    if (now->stream != old.stream) return "the primary of now is of another database";
    // Of the last promotion alone it is known where it began.
    if (now->epoch != old.epoch + 1)
        return fmt::format("the primary of now is of epoch {}, and this was the one of {}",
                           now->epoch, old.epoch);
    return {};
}

result<rejoin_report> rejoin(const fs::path& database, const std::optional<new_history>& now) {
    const auto refused = [&] {
        return fail(error_code::invalid_argument,
                    "{} is not a primary's, and needs no rejoining; 'posthorn standby follow' "
                    "copies what is missing",
                    database.string());
    };
    POSTHORN_LET(found, load_state(database));
    if (!found) return refused();
    POSTHORN_LET(lock, lock_state(database));
    std::ignore = lock;
    POSTHORN_LET(state, load_state(database));
    if (state && state->phase == standby_phase::rejoining) {
        const auto kept = tail_file_of(database, *state);
        POSTHORN_LET(alone, sqlite::sole_use::take(database.string()));
        std::ignore = alone;
        POSTHORN_TRY(finish_cut(database, *state));
        std::error_code unusable;
        return rejoin_report{.kept = fs::exists(kept, unusable) ? kept : fs::path{},
                             .was_cut = true};
    }
    if (!state || state->as != pair_state::role::primary) return refused();
    {
        POSTHORN_LET(alone, sqlite::sole_use::take(database.string()));
        std::ignore = alone;
    }
    auto why = refuse_cut(*state, now);
    if (why.empty()) {
        POSTHORN_LET(done, cut(database, *state, *now, why));
        if (done) return *std::move(done);
    }
    return begin_anew(database, *state, std::move(why));
}

}  // namespace posthorn::standby
