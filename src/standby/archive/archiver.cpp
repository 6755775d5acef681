#include "standby/archive/archiver.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace posthorn::standby {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t piece_min = std::uint64_t{1} << 20U;  // Taken before a segment is due.
constexpr milliseconds look_every{1000};
constexpr milliseconds again_after_failure{5000};
constexpr std::chrono::hours remove_every{1};

}  // namespace

archiver::archiver(archiver_options options, const parts& with)
    : options_(std::move(options)), with_(with), clocks_(with.time) {}

archiver::~archiver() { end(); }

void archiver::begin(log_source& files) {
    const std::scoped_lock lock(mutex_);
    files_ = &files;
    stopping_ = false;
    running_ = true;
    with_.thread.post([this] { run(); });
}

void archiver::end() noexcept {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !running_; });
}

void archiver::let_go() noexcept {
    const std::scoped_lock lock(mutex_);
    is_unsure_ = true;
    unsure_ = asked_;
    spoils_base_ = true;
}

void archiver::wrote(std::uint64_t end) noexcept {
    const std::scoped_lock lock(mutex_);
    written_ = end;
}

/// What ends there is on this disk.
void archiver::note(std::uint64_t end) {
    if (sealed_ == asked_) unsealed_at_ = with_.time.steady();
    ++asked_;
    if (end_ != end || fresh_.empty()) fresh_.push_back({end, with_.time.wall()});
    end_ = end;
}

result<> archiver::wait() noexcept {
    const std::scoped_lock lock(mutex_);
    note(written_);
    if (is_due()) changed_.notify_all();
    return {};
}

bool archiver::may_checkpoint(std::uint64_t end) noexcept {
    std::unique_lock lock(mutex_);
    note(end);
    const auto number = seal_asked_ = asked_;
    changed_.notify_all();
    const auto is_known = [&] { return stopping_ || sealed_ >= number || !told_.trouble.empty(); };
    if (!hangs_) changed_.wait_for(lock, options_.patience, is_known);
    may_be_renewed_ = sealed_ >= number;
    if (may_be_renewed_) return true;
    hangs_ = told_.trouble.empty();
    if (end <= options_.log_kept) return false;
    is_unsure_ = true;
    unsure_ = asked_;
    spoils_base_ = true;
    return true;
}

archive_report archiver::report() const {
    const std::scoped_lock lock(mutex_);
    auto told = told_;
    if (sealed_ == asked_) return told;
    told.behind = end_ < taken_ ? end_ : end_ - taken_;
    told.behind_for = std::chrono::floor<milliseconds>(with_.time.steady() - unsealed_at_);
    return told;
}

/// Under the mutex.
bool archiver::is_due() const {
    if (seal_asked_ > sealed_) return true;
    // A log that has begun anew is shorter than what of the one before was taken.
    const bool has_much = end_ < taken_ || end_ - taken_ >= piece_min;
    if (!fresh_.empty() && (may_be_renewed_ || has_much)) return true;
    return asked_ != sealed_ && with_.time.steady() - unsealed_at_ >= options_.every;
}

/// Under the mutex.
archiver::order archiver::next_order() {
    if (!fresh_.empty()) may_be_renewed_ = false;
    const bool is_late = asked_ != sealed_ && with_.time.steady() - unsealed_at_ >= options_.every;
    return {.number = asked_,
            .end = end_,
            .marks = std::exchange(fresh_, {}),
            .seal = stopping_ || is_late || seal_asked_ > sealed_,
            .last = stopping_};
}

void archiver::run() {
    std::unique_lock lock(mutex_);
    milliseconds wait{0};
    for (bool last = false; !last;) {
        const bool is_failing = !told_.trouble.empty();
        changed_.wait_for(lock, wait, [&] { return stopping_ || (!is_failing && is_due()); });
        auto asked = next_order();
        last = asked.last;
        lock.unlock();
        const auto done = work(asked);
        if (!done) failed(done.error());
        tell();
        lock.lock();
        if (!done)
            wait = again_after_failure;
        else if (writer_ && writer_->is_copying())
            wait = std::chrono::ceil<milliseconds>(pace_);
        else
            wait = look_every;
    }
    lock.unlock();
    writer_.reset();
    lock_.reset();
    lock.lock();
    running_ = false;
    changed_.notify_all();
}

result<> archiver::work(order& asked) {
    marks_.insert(marks_.end(), asked.marks.begin(), asked.marks.end());
    if (asked.number == 0) return {};  // The log has not been written to yet.
    if (!writer_) POSTHORN_TRY(open(asked));
    POSTHORN_TRY(follow_generation(asked));
    // What was noted twice, or was there before.
    auto before = writer_->sealed();
    std::erase_if(marks_, [&](const commit_mark& each) {
        return each.end <= before || (before = each.end, false);
    });
    // After a failure there may be none for what is to be taken.
    if (marks_.empty() && asked.end > writer_->taken())
        marks_.push_back({asked.end, with_.time.wall()});
    if (!marks_.empty()) POSTHORN_TRY(writer_->take(*files_, marks_.back().end));
    note_taken(asked);
    // Of a generation of which nothing is archived a start after a kill could not tell that it
    // follows.
    const bool is_new = writer_->sealed() == log_header_size && writer_->taken() > log_header_size;
    if (asked.seal || is_new) POSTHORN_TRY(seal(asked));
    if (asked.last) return {};
    POSTHORN_TRY(care_for_base(asked));
    if (!removed_at_ || with_.time.steady() - *removed_at_ >= remove_every) remove_outdated();
    return {};
}

result<> archiver::open(const order& asked) {
    const auto& as = options_.as;
    std::error_code failure;
    std::filesystem::create_directories(as.folder, failure);
    if (!lock_) {
        POSTHORN_LET(lock, plain_file::open(as.folder / fmt::format(".{}.lock", as.database),
                                            plain_file::how::make));
        if (!lock.lock())
            return fail(error_code::store_busy,
                        "another node archives to {}; give each a folder of its own",
                        as.folder.string());
        lock_ = std::move(lock);
    }
    POSTHORN_LET(found, scan_archive(as.folder, as.database));
    std::erase_if(found, [&](const stretch& each) {
        if (!each.segments.empty() || !each.bases.empty() || !each.damaged.empty()) return false;
        std::filesystem::remove_all(each.folder, failure);
        return true;
    });
    known_ = std::move(found);
    POSTHORN_LET(writer, stretch_writer::open(as, known_, *files_, asked.end, with_.time.wall(),
                                              with_.random));
    writer_.emplace(std::move(writer));
    if (!known_.empty() && known_.back().folder == writer_->folder()) return {};
    if (!known_.empty() && known_.back().newest())
        with_.log.warn(
            "Archive: there is a gap from {From} on, until a new base is whole: the log does not "
            "follow from what was archived last",
            {{"From", to_iso8601(*known_.back().newest())}});
    known_.push_back({.folder = writer_->folder()});
    return {};
}

/// A log that has begun anew follows from what is archived if all of the one before is.
result<> archiver::follow_generation(const order& asked) {
    std::array<std::byte, log_header_size> bytes{};
    POSTHORN_LET(size, files_->read_log(bytes, 0));
    const auto header = read_log_header(bytes_view(bytes).first(size));
    if (!header) return fail(error_code::io_failed, "the log has no beginning that can be read");
    if (header->salts == writer_->generation()) return {};
    bool is_sure = false;
    {
        const std::scoped_lock lock(mutex_);
        is_sure = !is_unsure_;
    }
    if (is_sure && writer_->taken() == writer_->sealed()) {
        writer_->next_generation(*header);
        return {};
    }
    writer_.reset();
    marks_.clear();
    return open(asked);
}

void archiver::note_taken(const order& asked) {
    const std::scoped_lock lock(mutex_);
    taken_ = writer_->taken();
    if (asked.number > unsure_) is_unsure_ = false;
}

result<> archiver::seal(const order& asked) {
    POSTHORN_LET(sealed, writer_->seal(marks_));
    marks_.clear();
    if (sealed)
        known_.back().segments.push_back(
            {*sealed, archive_head_size + body_size_of(*sealed) + archive_sum_size});
    const std::scoped_lock lock(mutex_);
    sealed_ = asked.number;
    unsealed_at_ = with_.time.steady();
    hangs_ = false;
    changed_.notify_all();
    return {};
}

result<> archiver::care_for_base(const order& asked) {
    if (!writer_->is_copying()) {
        const auto& now = known_.back();
        base_question question{.now = with_.time.wall(),
                               .every = options_.base_every,
                               .bytes_max = options_.limits.bytes_max};
        if (!now.bases.empty()) {
            question.newest = now.bases.back().facts.whole_at;
            for (const auto& each : now.segments)
                if (each.facts.number > now.bases.back().facts.whole)
                    question.bytes_since += each.file_bytes;
        }
        if (!is_base_due(question) || is_base_spoilt()) return {};
        POSTHORN_TRY(writer_->begin_base(question.now));
    }
    const auto begun = with_.time.steady();
    POSTHORN_LET(is_there, writer_->copy_some(*files_));
    pace_ = with_.time.steady() - begun;
    if (is_there && is_base_spoilt()) {
        writer_->drop_base();
        return {};
    }
    return is_there ? end_base(asked) : result<>();
}

/// Once for each time; what is noted until now is taken before the next look.
bool archiver::is_base_spoilt() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(spoils_base_, false);
}

result<> archiver::end_base(const order& asked) {
    POSTHORN_TRY(seal(asked));
    POSTHORN_LET(base, writer_->end_base());
    known_.back().bases.push_back({base, archive_head_size + base.bytes + archive_sum_size});
    with_.log.info("Archive: a base is whole, of {Moment}",
                   {{"Moment", to_iso8601(base.whole_at)}});
    remove_outdated();
    return {};
}

void archiver::remove_outdated() {
    removed_at_ = with_.time.steady();
    const auto now = with_.time.wall();
    if (clocks_.jumped() || !known_.back().newest() || lags_behind(now, *known_.back().newest()))
        return;
    for (const auto& each : outdated_files(known_, now, options_.limits)) {
        std::error_code failure;
        std::filesystem::remove(each, failure);
        if (failure)
            with_.log.warn("Archive: {File} is old and cannot be removed: {Error}",
                           {{"File", each.string()}, {"Error", failure.message()}});
    }
    // What others removed shows then too.
    auto found = scan_archive(options_.as.folder, options_.as.database);
    if (found && !found->empty() && found->back().folder == writer_->folder())
        known_ = *std::move(found);
}

void archiver::failed(const error& why) {
    writer_.reset();  // What it had of an unfinished segment is in the log.
    if (why.code() == error_code::state_changed) marks_.clear();
    const std::scoped_lock lock(mutex_);
    if (told_.trouble != why.what())
        with_.log.warn("Archive: {Folder} cannot be written, will try again: {Error}",
                       {{"Folder", options_.as.folder.string()}, {"Error", why.what()}});
    told_.trouble = why.what();
    changed_.notify_all();
}

void archiver::tell() {
    archive_report told;
    for (const auto& each : known_) {
        if (!told.oldest) told.oldest = each.oldest();
        if (const auto newest = each.newest()) told.newest = newest;
        told.bytes += each.bytes();
        told.segments += each.segments.size();
        told.bases += each.bases.size();
        for (const auto number : missing_segments(each))
            told.lost.push_back((each.folder / segment_name(number)).string());
        for (const auto& name : each.damaged) told.lost.push_back((each.folder / name).string());
    }
    told.gaps = gaps_between(known_);
    if (!known_.empty() && known_.back().oldest())
        told.base_at = known_.back().bases.back().facts.whole_at;
    if (writer_ && writer_->is_copying()) told.copied = writer_->copied();
    const std::scoped_lock lock(mutex_);
    told.has_tried = asked_ != 0;
    if (!writer_) told.trouble = told_.trouble;
    told_ = std::move(told);
}

}  // namespace posthorn::standby
