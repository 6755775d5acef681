#include "standby/change/log_cut.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "base/planted.hpp"
#include "standby/link_format.hpp"
#include "standby/plain_file.hpp"

namespace posthorn::standby {
namespace {

namespace fs = std::filesystem;

fs::path log_of(const fs::path& database) { return database.string() + "-wal"; }

bool is_there(const fs::path& file) {
    std::error_code unusable;
    return fs::exists(file, unusable);
}

struct open_log {
    plain_file file;
    log_header header;
};

/// Empty if there is none that has begun.
result<std::optional<open_log>> open_log_of(const fs::path& database) {
    if (!is_there(log_of(database))) return std::nullopt;
    POSTHORN_LET(file, plain_file::open(log_of(database), plain_file::how::read));
    std::array<std::byte, log_header_size> bytes{};
    POSTHORN_LET(size, file.read(bytes, 0));
    const auto header = read_log_header(bytes_view(bytes).first(size));
    if (!header) return std::nullopt;
    return open_log{std::move(file), *header};
}

/// Calls `seen(frame)` for each, which gives false to end it.
template <class Seen>
result<> walk_log(const open_log& log, log_walk& walk, const Seen& seen) {
    std::vector<std::byte> bytes(walk.frame_size());
    for (;;) {
        POSTHORN_LET(size, log.file.read(bytes, walk.offset()));
        if (size < bytes.size()) return {};
        const auto frame = walk.step(bytes);
        if (!frame || !seen(*frame)) return {};
    }
}

bool ends_at(const log_walk& walk, const log_place& at) {
    return walk.end().offset == at.offset && walk.end().sum == at.sum;
}

/// Copies what of a file lies between two places behind what the other one has.
result<> copy_bytes(const plain_file& from, std::uint64_t at, std::uint64_t until, plain_file& to) {
    constexpr std::size_t some = std::size_t{1024} * 1024;
    std::vector<std::byte> bytes(some);
    POSTHORN_LET(place, to.size());
    while (at < until) {
        const auto part = std::span(bytes).first(
            static_cast<std::size_t>(std::min<std::uint64_t>(some, until - at)));
        POSTHORN_LET(got, from.read(part, at));
        if (got == 0) break;
        POSTHORN_TRY(to.write(part.first(got), place));
        at += got;
        place += got;
    }
    return {};
}

/// Pages that only the tail has, each with the hashes of what it was there: a tail may be long.
class tail_pages {
public:
    explicit tail_pages(const fs::path& database) : database_(database) {}

    void note(const log_frame& frame, bool is_before) {
        if (is_before)
            before_.insert(frame.page);
        else if (!before_.contains(frame.page))
            later_[frame.page].push_back(hash_of_page(frame.data));
        page_size_ = frame.data.size();
    }
    /// The log up to the place does not say what such a page was, so that the file must.
    [[nodiscard]] result<bool> are_in_file() const {
        POSTHORN_LET(file, plain_file::open(database_, plain_file::how::read));
        std::vector<std::byte> page(page_size_);
        for (const auto& [number, versions] : later_) {
            POSTHORN_LET(size, file.read(page, std::uint64_t{number - 1} * page.size()));
            if (size == page.size() &&
                std::ranges::find(versions, hash_of_page(page)) != versions.end())
                return true;
        }
        return false;
    }

private:
    fs::path database_;
    std::set<std::uint32_t> before_;
    std::map<std::uint32_t, std::vector<std::array<std::byte, page_hash_size>>> later_;
    std::size_t page_size_ = 0;
};

}  // namespace

result<std::optional<log_tail>> find_tail(const fs::path& database, const log_place& at) {
    POSTHORN_LET(log, open_log_of(database));
    if (!log || log->header.salts != at.salts) return std::nullopt;
    log_walk walk(log->header);
    bool is_found = ends_at(walk, at);
    log_tail tail;
    tail_pages pages(database);
    std::uint64_t frames = 0;
    POSTHORN_TRY(walk_log(*log, walk, [&](const log_frame& frame) {
        const bool is_before = !is_found;
        if (is_found) ++frames;
        pages.note(frame, is_before);
        if (walk.offset() == walk.end().offset && is_found) tail.pages = frames;
        is_found = is_found || ends_at(walk, at);
        return true;
    }));
    if (!is_found) return std::nullopt;
    tail.end = {log->header.salts, walk.end().offset, walk.end().sum};
    POSTHORN_LET(is_in_file, pages.are_in_file());
    tail.is_in_file = is_in_file;
    return tail;
}

result<std::optional<log_place>> end_of_log(const fs::path& database) {
    POSTHORN_LET(log, open_log_of(database));
    if (!log) return std::nullopt;
    log_walk walk(log->header);
    POSTHORN_TRY(walk_log(*log, walk, [](const log_frame&) { return true; }));
    return log_place{log->header.salts, walk.end().offset, walk.end().sum};
}

result<> copy_log(const fs::path& database, const log_place& at, const fs::path& to) {
    POSTHORN_LET(from, plain_file::open(log_of(database), plain_file::how::read));
    POSTHORN_LET(into, plain_file::open(to, plain_file::how::make));
    POSTHORN_TRY(into.resize(0));
    return copy_bytes(from, 0, at.offset, into);
}

fs::path tail_file_of(const fs::path& database, const pair_state& state) {
    return database.parent_path() / fmt::format("{}.tail-before-epoch-{}-{}",
                                                database.filename().string(), state.epoch,
                                                to_hex(state.stream).substr(0, 8));
}

namespace {

/// What is from there on, for people and their tools; nothing of Posthorn's reads it again.
result<> keep_tail(const fs::path& database, const pair_state& state, std::uint64_t from) {
    POSTHORN_LET(log, plain_file::open(log_of(database), plain_file::how::read));
    POSTHORN_LET(end, end_of_log(database));
    if (!end || end->offset <= from) return {};
    const auto kept = tail_file_of(database, state);
    POSTHORN_LET(into, plain_file::open(kept, plain_file::how::make));
    POSTHORN_TRY(into.resize(0));
    POSTHORN_TRY(copy_bytes(log, 0, log_header_size, into));
    POSTHORN_TRY(copy_bytes(log, from, end->offset, into));
    POSTHORN_TRY(into.sync());
    return sync_names_beside(kept);
}

result<> cut_at(const fs::path& database, const log_place& at) {
    POSTHORN_LET(log, plain_file::open(log_of(database), plain_file::how::write));
    if (!POSTHORN_PLANTED(rejoined_without_cutting)) POSTHORN_TRY(log.resize(at.offset));
    return log.sync();
}

result<> make_segment_of_log(const fs::path& database, const fs::path& segment) {
    std::error_code failure;
    fs::remove(database.string() + "-shm", failure);
    fs::rename(log_of(database), segment, failure);
    if (!failure) return sync_names_beside(segment);
    return fail(error_code::io_failed, "cannot rename {} to {}: {}", log_of(database).string(),
                segment.string(), failure.message());
}

/// False if what is left is not the database as it was at `parting`.
result<bool> cut_off_tail(const fs::path& database, const pair_state& state) {
    const fs::path segment = fmt::format("{}-log-{}", database.string(), state.oldest_segment);
    // It was cut before, or others have closed the database, which put the log into the file.
    if (!is_there(log_of(database))) return is_there(segment);
    const auto& at = *state.parting;
    POSTHORN_LET(tail, find_tail(database, at));
    POSTHORN_TRY(keep_tail(database, state, tail ? at.offset : log_header_size));
    if (!tail || tail->is_in_file) return false;
    POSTHORN_TRY(cut_at(database, at));
    POSTHORN_TRY(make_segment_of_log(database, segment));
    return true;
}

}  // namespace

result<pair_state> finish_cut(const fs::path& database, pair_state state) {
    if (!state.parting)
        return fail(error_code::store_corrupt,
                    "{} does not say where to cut the log; remove it and the database, so that "
                    "both are copied anew",
                    state_file_of(database).string());
    POSTHORN_LET(is_whole, cut_off_tail(database, state));
    state.phase = is_whole ? standby_phase::following : standby_phase::copying;
    state.parting.reset();
    POSTHORN_TRY(save_state(database, state));
    return state;
}

}  // namespace posthorn::standby
