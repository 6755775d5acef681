#include "standby/archive/archive_restore.hpp"

#include <algorithm>
#include <utility>

#include "standby/archive/archive_file.hpp"
#include "standby/plain_file.hpp"
#include "store/sqlite/driver/backup_files.hpp"
#include "store/sqlite/upkeep/backup.hpp"
#include "store/sqlite/upkeep/restore.hpp"

namespace posthorn::standby {
namespace {

namespace fs = std::filesystem;

result<> require_free(const fs::path& file) {
    std::error_code unusable;
    for (const auto* const beside : {"", "-wal", "-journal"})
        if (fs::exists(file.string() + beside, unusable))
            return fail(error_code::invalid_argument,
                        "{}{} is there already and stays as it is; restore into a new file with "
                        "--to, and put it in its place once you have looked at it",
                        file.string(), beside);
    return {};
}

/// Plays an archive into a file.
class player {
public:
    player(const archive_restore_options& asked, const stretch& in, const restore_plan& plan,
           plain_file& into)
        : asked_(asked), in_(in), plan_(plan), into_(into) {
        all_ = plan.base.bytes;
        for (const auto& each : plan.segments) all_ += body_size_of(each);
    }

    result<archive_restore_report> play();

private:
    result<> look(std::uint64_t bytes);
    result<> play_base();
    result<> play_segment(const segment_facts& facts);
    result<std::vector<commit_mark>> marks_of(const archive_reader& from,
                                              const segment_facts& facts) const;
    result<> play_frames(const archive_reader& from, const segment_facts& facts,
                         std::uint64_t until);
    [[nodiscard]] std::unexpected<error> damaged(const segment_facts& of, const char* why) const {
        return fail(error_code::store_corrupt, "{} is damaged: {}", in_.file_of(of).string(), why);
    }

    const archive_restore_options& asked_;
    const stretch& in_;
    const restore_plan& plan_;
    plain_file& into_;
    std::uint64_t done_ = 0;
    std::uint64_t all_ = 0;
    std::uint64_t pages_ = 0;  // Of the database after the last commit.
    std::uint32_t page_size_ = 0;
    log_sum log_sum_{};       // Where the segment before ends.
    std::string sum_before_;  // Of the segment before; empty of the first that is played.
    archive_restore_report report_;
};

result<> player::look(std::uint64_t bytes) {
    done_ += bytes;
    if (asked_.progress)
        asked_.progress(static_cast<std::int64_t>(done_), static_cast<std::int64_t>(all_));
    if (asked_.cancelled != nullptr && *asked_.cancelled)
        return fail(error_code::cancelled, "the restore was cancelled; nothing was kept");
    return {};
}

result<> player::play_base() {
    POSTHORN_LET(from, archive_reader::open(in_.file_of(plan_.base)));
    POSTHORN_TRY(from.verify([&](bytes_view pages, std::uint64_t at) -> result<> {
        POSTHORN_TRY(into_.write(pages, at));
        return look(pages.size());
    }));
    report_.base_at = plan_.base.whole_at;
    report_.segment = in_.file_of(plan_.base).string();
    report_.bytes = plan_.base.bytes;
    return {};
}

result<std::vector<commit_mark>> player::marks_of(const archive_reader& from,
                                                  const segment_facts& facts) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(facts.commits) * mark_size);
    POSTHORN_LET(got, from.read(bytes, log_header_size + (facts.to - facts.from)));
    auto marks = decode_marks(bytes_view(bytes).first(got), facts);
    if (!marks) return damaged(facts, "its times cannot be read");
    return *std::move(marks);
}

result<> player::play_segment(const segment_facts& facts) {
    POSTHORN_LET(from, archive_reader::open(in_.file_of(facts)));
    const auto read = decode_segment_head(from.head());
    if (!read || *read != facts) return damaged(facts, "its head changed while it was read");
    POSTHORN_LET(sum, from.verify({}));
    if (!sum_before_.empty() && facts.before != sum_before_)
        return damaged(facts, "it does not follow from the one before it");
    sum_before_ = sum;
    POSTHORN_LET(marks, marks_of(from, facts));
    const bool is_last = facts.number == plan_.segments.back().number;
    const auto until = last_until(marks, is_last ? plan_.until : std::nullopt);
    if (!until) return damaged(facts, "it has no commit of the time that it says");
    POSTHORN_TRY(play_frames(from, facts, until->end));
    report_.moment = until->at;
    report_.segment = in_.file_of(facts).string();
    report_.commit =
        static_cast<std::uint64_t>(std::ranges::find(marks, *until) - marks.begin() + 1);
    report_.commits = facts.commits;
    report_.next_at.reset();
    if (report_.commit < marks.size()) report_.next_at = marks[report_.commit].at;
    ++report_.segments;
    return look(body_size_of(facts));
}

result<> player::play_frames(const archive_reader& from, const segment_facts& facts,
                             std::uint64_t until) {
    std::vector<std::byte> bytes(log_header_size);
    POSTHORN_LET(got, from.read(bytes, 0));
    const auto header = read_log_header(bytes_view(bytes).first(got));
    if (!header || header->salts != facts.generation || header->page_size != facts.page_size)
        return damaged(facts, "the header of its log is another one");
    page_size_ = facts.page_size;
    const bool is_first = facts.from == log_header_size;
    log_walk walk(*header, {.offset = facts.from, .sum = is_first ? header->sum : log_sum_});
    const auto at_once = std::max<std::size_t>(1, (std::size_t{1} << 20U) / walk.frame_size());
    std::vector<std::byte> frames(at_once * walk.frame_size());
    while (walk.offset() < until) {
        const auto want =
            static_cast<std::size_t>(std::min<std::uint64_t>(frames.size(), until - walk.offset()));
        const auto at = log_header_size + (walk.offset() - facts.from);
        POSTHORN_LET(size, from.read(std::span(frames).first(want), at));
        for (auto rest = bytes_view(frames).first(size); !rest.empty();
             rest = rest.subspan(walk.frame_size())) {
            const auto frame = walk.step(rest);
            if (!frame) return damaged(facts, "a frame does not follow from the one before it");
            POSTHORN_TRY(into_.write(frame->data, std::uint64_t{frame->page - 1} * page_size_));
        }
        if (size < want) return damaged(facts, "it became shorter");
    }
    pages_ = walk.end().pages_in_file;
    log_sum_ = facts.sum;
    return {};
}

result<archive_restore_report> player::play() {
    POSTHORN_TRY(play_base());
    report_.moment = plan_.base.whole_at;
    for (const auto& each : plan_.segments) POSTHORN_TRY(play_segment(each));
    if (pages_ != 0) {
        report_.bytes = pages_ * page_size_;
        POSTHORN_TRY(into_.resize(report_.bytes));
    }
    POSTHORN_TRY(into_.sync());
    return report_;
}

/// The first commit after a segment, where there is one in the archive.
std::optional<wall_time> first_after(const stretch& in, const restore_plan& plan) {
    const auto last = plan.segments.empty() ? plan.base.whole : plan.segments.back().number;
    const auto* const next = in.find(last + 1);
    return next == nullptr ? std::nullopt : std::optional(next->facts.first_at);
}

}  // namespace

result<archive_restore_report> restore_from_archive(const archive_restore_options& asked,
                                                    const clock& time) {
    if (!asked.dry_run) POSTHORN_TRY(require_free(asked.into));
    POSTHORN_LET(all, scan_archive(asked.archive, asked.name));
    POSTHORN_LET(plan, plan_restore(all, asked.moment));
    const auto& in = all[plan.stretch];
    POSTHORN_LET(copy,
                 sqlite::new_file::make(asked.into.string() + ".restoring", in.file_of(plan.base)));
    POSTHORN_LET(file, plain_file::open(copy.path(), plain_file::how::write));
    POSTHORN_LET(report, player(asked, in, plan, file).play());
    if (!report.next_at) report.next_at = first_after(in, plan);
    POSTHORN_LET(facts, sqlite::verify_backup(copy.path(), asked.service, asked.cancelled));
    report.service = facts.service;
    report.epoch = sqlite::epoch_after_restore(facts.epoch, std::nullopt);
    if (asked.dry_run) return report;
    POSTHORN_TRY(sqlite::begin_epoch({.path = copy.path().string()}, report.epoch, time.wall()));
    POSTHORN_TRY(copy.keep_as(asked.into, sqlite::new_file::if_there::refuse));
    return report;
}

}  // namespace posthorn::standby
