#include "standby/kept_copy.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "standby/change/log_cut.hpp"
#include "standby/change/switch_rules.hpp"

namespace posthorn::standby {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t free_files_max = 2;

/// The number in the name of a segment of the database; empty if it is another file's.
std::optional<std::uint64_t> number_of(const fs::path& file, const fs::path& database) {
    const auto name = file.filename().string();
    const auto start = database.filename().string() + "-log-";
    std::uint64_t number = 0;
    if (!name.starts_with(start)) return std::nullopt;
    const auto* const end = name.data() + name.size();
    const auto [stopped, wrong] = std::from_chars(name.data() + start.size(), end, number);
    if (wrong != std::errc{} || stopped != end) return std::nullopt;
    return number;
}

result<> remove_file(const fs::path& path) {
    std::error_code failure;
    fs::remove(path, failure);
    if (!failure) return {};
    return fail(error_code::io_failed, "cannot remove {}: {}", path.string(), failure.message());
}

result<> rename_file(const fs::path& from, const fs::path& to) {
    std::error_code failure;
    fs::rename(from, to, failure);
    if (failure)
        return fail(error_code::io_failed, "cannot rename {} to {}: {}", from.string(), to.string(),
                    failure.message());
    return sync_names_beside(to);
}

}  // namespace

result<std::unique_ptr<kept_copy>> kept_copy::open(const fs::path& database) {
    std::unique_ptr<kept_copy> made(new kept_copy(database));
    POSTHORN_TRY(made->load());
    return made;
}

kept_copy::~kept_copy() = default;

result<> kept_copy::load() {
    POSTHORN_LET(lock, lock_state(database_));
    lock_ = std::move(lock);
    POSTHORN_LET(found, load_state(database_));
    std::error_code unusable;
    if (!found && fs::exists(database_, unusable))
        return fail(error_code::invalid_argument,
                    "{} is a database that is not a copy of a primary's; name another file in "
                    "store.url, or move it away",
                    database_.string());
    if (found && may_lead(*found))
        return fail(error_code::invalid_argument,
                    "{} is a primary's; 'posthorn standby rejoin' makes a standby of it",
                    database_.string());
    if (found) state_ = *found;
    if (state_.phase == standby_phase::handing) return {};
    POSTHORN_TRY(keep_others_off());
    if (state_.phase == standby_phase::rejoining) {
        POSTHORN_LET(joined, finish_cut(database_, state_));
        state_ = joined;
    }
    return load_segments();
}

result<> kept_copy::keep_others_off() {
    alone_.reset();
    POSTHORN_LET(alone, sqlite::sole_use::take(database_.string()));
    alone_.emplace(std::move(alone));
    return {};
}

result<> kept_copy::load_segments() {
    std::error_code failure;
    auto folder = database_.parent_path();
    if (folder.empty()) folder = ".";
    std::map<std::uint64_t, fs::path> files;
    for (const auto& each : fs::directory_iterator(folder, failure))
        if (const auto number = number_of(each.path(), database_)) files[*number] = each.path();
    if (failure)
        return fail(error_code::io_failed, "cannot look into {}: {}", folder.string(),
                    failure.message());
    next_number_ = state_.oldest_segment;
    for (const auto& [number, path] : files) {
        if (number < state_.oldest_segment) {
            free_.push_back(path);
            continue;
        }
        // What was not begun to its end holds nothing that was answered; nor does what is behind.
        auto opened = number == next_number_ ? segment::open(path)
                                             : result<std::optional<segment>>(std::nullopt);
        POSTHORN_TRY(opened);
        if (!*opened) {
            POSTHORN_TRY(remove_file(path));
            continue;
        }
        segments_.emplace(number, std::make_shared<segment>(**std::move(opened)));
        ++next_number_;
    }
    return {};
}

pair_state kept_copy::state() const {
    const std::scoped_lock lock(mutex_);
    return state_;
}

standby_place kept_copy::place() const {
    const std::scoped_lock lock(mutex_);
    return {.stream = state_.stream,
            .epoch = state_.epoch,
            .phase = state_.phase,
            .at = end_of_segments()};
}

/// Under the lock.
log_place kept_copy::end_of_segments() const {
    if (!segments_.empty()) return segments_.rbegin()->second->place();
    return state_.parting.value_or(log_place{});
}

fs::path kept_copy::path_of(std::uint64_t number) const {
    return fmt::format("{}-log-{}", database_.string(), number);
}

result<> kept_copy::change(const std::function<void(pair_state&)>& how) {
    const std::scoped_lock one_by_one(changing_);
    auto fresh = state();
    how(fresh);
    if (fresh == state()) return {};
    POSTHORN_TRY(save_state(database_, fresh));
    const std::scoped_lock lock(mutex_);
    state_ = fresh;
    return {};
}

result<plain_file> kept_copy::open_database() const {
    return plain_file::open(database_, plain_file::how::make);
}

result<> kept_copy::drop_segments() {
    for (const auto& each : segments_) POSTHORN_TRY(free_segment(each.first));
    const std::scoped_lock lock(mutex_);
    segments_.clear();
    return {};
}

result<> kept_copy::begin_copy(const pair_state& of, const log_header& first) {
    const std::scoped_lock no_fold(folding_);
    std::error_code unusable;
    const bool is_new = !fs::exists(database_, unusable);  // And has no lock on it yet.
    POSTHORN_TRY(change([&](pair_state& mine) {
        mine = of;
        mine.as = pair_state::role::standby;
        mine.phase = standby_phase::copying;
        mine.oldest_segment = next_number_;
    }));
    POSTHORN_TRY(drop_segments());
    // What SQLite would play over the copy.
    for (const auto* const beside : {"-wal", "-shm", "-journal"})
        POSTHORN_TRY(remove_file(database_.string() + beside));
    POSTHORN_LET(base, open_database());
    base_ = std::move(base);
    if (is_new) POSTHORN_TRY(keep_others_off());
    POSTHORN_TRY(sync_names_beside(database_));
    return next_generation(first);
}

result<std::size_t> kept_copy::read_pages(std::span<std::byte> into, std::uint64_t at) {
    return base_.read(into, at);
}

result<> kept_copy::write_pages(bytes_view pages, std::uint64_t at) {
    return base_.write(pages, at);
}

result<> kept_copy::end_copy(std::uint64_t bytes) {
    POSTHORN_TRY(base_.resize(bytes));
    POSTHORN_TRY(base_.sync());
    base_ = plain_file();
    return change([](pair_state& mine) { mine.phase = standby_phase::following; });
}

result<> kept_copy::note(std::uint64_t epoch, bool may_lack) {
    return change([&](pair_state& mine) {
        mine.epoch = epoch;
        mine.may_lack = may_lack;
    });
}

result<> kept_copy::next_generation(const log_header& header) {
    fs::path spare;
    {
        const std::scoped_lock lock(mutex_);
        if (!free_.empty()) {
            spare = free_.back();
            free_.pop_back();
        }
    }
    const auto path = path_of(next_number_);
    // A file that has the name of this generation must not begin as another one did.
    const auto made_as = spare.empty() ? fs::path(path.string() + ".new") : spare;
    POSTHORN_LET(begun, segment::begin(made_as, header));
    POSTHORN_TRY(begun.sync());
    POSTHORN_TRY(rename_file(made_as, path));
    const std::scoped_lock lock(mutex_);
    segments_.emplace(next_number_++, std::make_shared<segment>(std::move(begun)));
    return {};
}

result<> kept_copy::append(std::uint64_t offset, bytes_view frames) {
    std::shared_ptr<segment> newest;
    {
        const std::scoped_lock lock(mutex_);
        if (segments_.empty())
            return fail(error_code::malformed_request,
                        "frames came before the log that they are of");
        newest = segments_.rbegin()->second;
    }
    return newest->append(offset, frames);
}

void kept_copy::drop_part() {
    const std::scoped_lock lock(mutex_);
    if (!segments_.empty()) segments_.rbegin()->second->drop_part();
}

bool kept_copy::has_finished() const {
    const std::scoped_lock lock(mutex_);
    return state_.phase == standby_phase::following && segments_.size() > 1;
}

// A kill in between leaves pages of it in the database, which the next run writes again.
result<> kept_copy::fold_oldest() {
    std::uint64_t number = 0;
    std::shared_ptr<segment> oldest;
    {
        const std::scoped_lock lock(mutex_);
        std::tie(number, oldest) = *segments_.begin();
    }
    POSTHORN_LET(base, open_database());
    POSTHORN_TRY(oldest->fold_into(base));
    POSTHORN_TRY(change([&](pair_state& mine) { mine.oldest_segment = number + 1; }));
    POSTHORN_TRY(free_segment(number));
    const std::scoped_lock lock(mutex_);
    segments_.erase(number);
    return {};
}

result<> kept_copy::free_segment(std::uint64_t number) {
    auto path = path_of(number);
    {
        const std::scoped_lock lock(mutex_);
        if (free_.size() < free_files_max) {
            free_.push_back(std::move(path));
            return {};
        }
    }
    return remove_file(path);
}

result<> kept_copy::fold() {
    const std::scoped_lock no_copy(folding_);
    while (has_finished()) POSTHORN_TRY(fold_oldest());
    return {};
}

result<> kept_copy::promote(std::uint64_t epoch, const std::function<result<>()>& finish) {
    const std::scoped_lock no_fold(folding_);
    const auto phase = state().phase;
    if (phase != standby_phase::following && phase != standby_phase::promoted)
        return fail(error_code::invalid_argument,
                    "{} is not yet a whole copy of its primary's database, and cannot take its "
                    "place",
                    database_.string());
    const auto at = place().at;
    POSTHORN_TRY(change([&](pair_state& mine) {
        if (mine.phase == standby_phase::promoted) return;  // It is gone on with.
        mine = standby::take_role(mine, {.epoch = std::max(mine.epoch, epoch), .at = at});
    }));
    // One that goes on with it may find changes of the first try in the file, and not in its log.
    const bool is_first_try = !segments_.empty();
    while (!segments_.empty()) POSTHORN_TRY(fold_oldest());
    for (const auto& each : free_) POSTHORN_TRY(remove_file(each));
    free_.clear();
    alone_.reset();
    if (finish) POSTHORN_TRY(finish());
    // What `finish` has changed is in a log that begins where the old one ended.
    POSTHORN_LET(first, end_of_log(database_));
    return change([&](pair_state& mine) {
        mine.as = pair_state::role::primary;
        if (first && is_first_try) mine.first_log = first->salts;
    });
}

result<> kept_copy::take_role(const link_hand_over& asked) {
    const auto at = place().at;
    std::string refusal;
    POSTHORN_TRY(change([&](pair_state& mine) {
        refusal = refuse_role(mine, at, asked);
        if (refusal.empty()) mine = standby::take_role(mine, asked);
    }));
    if (refusal.empty()) return {};
    return fail(error_code::invalid_argument, "{}", refusal);
}

result<> kept_copy::follow_on(std::uint64_t epoch) {
    if (!alone_) POSTHORN_TRY(keep_others_off());
    POSTHORN_TRY(change([&](pair_state& mine) {
        if (mine.phase == standby_phase::handing) mine = become_standby(mine, epoch);
    }));
    const auto now = state();
    if (now.phase != standby_phase::rejoining) return {};
    POSTHORN_LET(joined, finish_cut(database_, now));
    {
        const std::scoped_lock lock(mutex_);
        state_ = joined;
    }
    return load_segments();
}

result<> kept_copy::take_back() {
    return change([](pair_state& mine) {
        if (mine.phase == standby_phase::handing) mine = standby::take_back(mine);
    });
}

}  // namespace posthorn::standby
