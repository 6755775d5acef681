#include "standby/archive/stretch_writer.hpp"

#include <algorithm>
#include <array>
#include <ranges>

namespace posthorn::standby {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t part_size = std::size_t{1024} * 1024;

result<log_header> header_of(log_source& files) {
    std::array<std::byte, log_header_size> bytes{};
    POSTHORN_LET(size, files.read_log(bytes, 0));
    if (const auto header = read_log_header(bytes_view(bytes).first(size))) return *header;
    return fail(error_code::io_failed, "the log has no beginning that can be read");
}

result<> make_folder(const fs::path& folder) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure)
        return fail(error_code::io_failed, "cannot make {}: {}", folder.string(),
                    failure.message());
    return sync_names_beside(folder);
}

}  // namespace

result<stretch_writer> stretch_writer::open(const identity& as, std::span<const stretch> all,
                                            log_source& files, std::uint64_t end, wall_time now,
                                            random_source& random) {
    POSTHORN_LET(header, header_of(files));
    if (!all.empty()) {
        stretch_writer on(as, all.back().folder, header);
        POSTHORN_LET(goes_on, on.goes_on_from(all.back(), files, end));
        if (goes_on) return on;
    }
    const auto tag = static_cast<std::uint32_t>(random.next());
    stretch_writer fresh(as, as.folder / stretch_name(as.database, now, tag), header);
    POSTHORN_TRY(make_folder(fresh.folder_));
    return fresh;
}

result<bool> stretch_writer::goes_on_from(const stretch& last, log_source& files,
                                          std::uint64_t end) {
    if (last.segments.empty()) return false;
    const auto& facts = last.segments.back().facts;
    if (facts.page_size != header_.page_size || facts.service != as_.service) return false;
    POSTHORN_LET(opened, archive_reader::open(last.file_of(facts)));
    POSTHORN_LET(sum, opened.kept_sum());
    before_ = sum;
    last_at_ = facts.last_at;
    next_number_ = facts.number + 1;
    generation_begins_ = next_number_;
    if (facts.generation != header_.salts) {
        std::array<std::byte, log_header_size> bytes{};
        POSTHORN_LET(size, opened.read(bytes, 0));
        const auto its = read_log_header(bytes_view(bytes).first(size));
        return its ? is_the_log_before(facts, *its, files, end) : false;
    }
    from_ = facts.to;
    for (const auto& each : std::views::reverse(last.segments)) {
        if (each.facts.generation != header_.salts) break;
        generation_begins_ = each.facts.number;
    }
    return is_in_this_log(facts, files, end);
}

result<bool> stretch_writer::is_in_this_log(const segment_facts& last, log_source& files,
                                            std::uint64_t end) {
    if (last.to > end) return false;
    std::vector<std::byte> frame(walk_.frame_size());
    while (walk_.offset() < last.to) {
        POSTHORN_LET(size, files.read_log(frame, walk_.offset()));
        if (size < frame.size() || !walk_.step(frame)) return false;
    }
    return walk_.end().offset == last.to && walk_.end().sum == last.sum;
}

// A node that ends between a checkpoint and its next commit leaves a log that the next one begins
// anew. SQLite counts the first salt up then and overwrites the log from its beginning; so where it
// has not come as far as the segment did, what stands behind that tells whether there was more.
result<bool> stretch_writer::is_the_log_before(const segment_facts& last, const log_header& its,
                                               log_source& files, std::uint64_t end) const {
    const auto count = [](const log_salts& salts) {
        return read_number(bytes_view(salts).first(4));
    };
    constexpr std::uint64_t salts_max = 0xffff'ffff;
    if (its.salts != last.generation || end > last.to ||
        count(header_.salts) != ((count(its.salts) + 1) & salts_max))
        return false;
    std::array<std::byte, 1> one{};
    POSTHORN_LET(before, files.read_log(one, last.to - 1));
    if (before == 0) return false;  // It was cut off since.
    std::vector<std::byte> frame(walk_.frame_size());
    POSTHORN_LET(size, files.read_log(frame, last.to));
    if (size < frame.size()) return size == 0;
    log_walk on(its, {.offset = last.to, .sum = last.sum});
    return !on.step(frame);
}

void stretch_writer::next_generation(const log_header& fresh) {
    header_ = fresh;
    walk_ = log_walk(fresh);
    from_ = log_header_size;
    generation_begins_ = next_number_;
}

result<> stretch_writer::begin_piece() {
    POSTHORN_LET(file, archive_writer::begin(folder_ / "log.new"));
    piece_.emplace(std::move(file));
    return piece_->add(header_.bytes);
}

result<> stretch_writer::take(log_source& files, std::uint64_t end) {
    if (!piece_ && walk_.offset() < end) POSTHORN_TRY(begin_piece());
    const auto frame = walk_.frame_size();
    const auto whole = std::max(frame, part_size / frame * frame);
    std::vector<std::byte> frames;
    while (walk_.offset() < end) {
        const auto at = walk_.offset();
        frames.resize(static_cast<std::size_t>(std::min<std::uint64_t>(whole, end - at)));
        POSTHORN_LET(size, files.read_log(frames, at));
        auto next = walk_;
        if (size == frames.size()) next.pass(frames);
        if (next.offset() != at + frames.size())
            return fail(error_code::state_changed, "the log changed while it was archived");
        POSTHORN_TRY(piece_->add(frames));
        walk_ = next;
    }
    if (walk_.end().offset == walk_.offset()) return {};
    return fail(error_code::state_changed, "the log ends where it was not said to");
}

result<std::optional<segment_facts>> stretch_writer::seal(std::span<const commit_mark> marks) {
    if (!piece_) return std::optional<segment_facts>{};
    segment_facts facts{.service = as_.service,
                        .epoch = as_.epoch,
                        .number = next_number_,
                        .generation = header_.salts,
                        .from = from_,
                        .to = walk_.offset(),
                        .sum = walk_.end().sum,
                        .page_size = header_.page_size,
                        .commits = marks.size(),
                        .first_at = marks.front().at,
                        .last_at = marks.back().at,
                        .before = before_};
    POSTHORN_TRY(piece_->add(encode_marks(marks)));
    POSTHORN_LET(sum, piece_->keep(encode_head(facts), folder_ / segment_name(next_number_)));
    piece_.reset();
    before_ = sum;
    last_at_ = facts.last_at;
    from_ = facts.to;
    ++next_number_;
    return std::optional(facts);
}

result<> stretch_writer::begin_base(wall_time now) {
    POSTHORN_LET(file, archive_writer::begin(folder_ / "base.new"));
    base_.emplace(growing_base{std::move(file), generation_begins_, now});
    return {};
}

// Pages that a checkpoint writes meanwhile, or cuts off, are in the segments from `needs` on.
result<bool> stretch_writer::copy_some(log_source& files) {
    std::vector<std::byte> pages(part_size);
    POSTHORN_LET(size, files.read_file(pages, base_->file.body_size()));
    if (size > 0) {
        POSTHORN_TRY(base_->file.add(bytes_view(pages).first(size)));
        return false;
    }
    POSTHORN_LET(bytes, files.file_size());
    return bytes <= base_->file.body_size();  // Else it has just grown.
}

result<base_facts> stretch_writer::end_base() {
    const base_facts facts{.service = as_.service,
                           .epoch = as_.epoch,
                           .needs = base_->needs,
                           .whole = next_number_ - 1,
                           .bytes = base_->file.body_size(),
                           .begun_at = base_->begun_at,
                           .whole_at = last_at_};
    POSTHORN_TRY(base_->file.keep(encode_head(facts), folder_ / base_name(facts.whole)));
    base_.reset();
    return facts;
}

}  // namespace posthorn::standby
