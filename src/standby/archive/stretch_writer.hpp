#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/random.hpp"
#include "standby/archive/archive_file.hpp"
#include "standby/archive/stretch.hpp"
#include "store/log_shipper.hpp"

namespace posthorn::standby {

/// Writes a stretch: segments of the log as it grows and, now and then, a base.
///
/// A segment is finished by `seal`. Until then its frames are in a file without a name, and lost in
/// a crash; the log has them. After an error it is thrown away and another is opened.
///
/// Lifetime: `open`; what it is given with each call outlives that call.
/// Threads:  one at a time.
class stretch_writer {
public:
    struct identity {
        std::filesystem::path folder;  // Of the archive.
        std::string database{};        // `orders`.
        std::string service{};
        std::uint64_t epoch = 0;
    };

    /// Goes on with the newest of the stretches where the present log, which ends at `end`, has
    /// what that ends with; otherwise it begins another.
    static result<stretch_writer> open(const identity& as, std::span<const stretch> all,
                                       log_source& files, std::uint64_t end, wall_time now,
                                       random_source& random);

    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    [[nodiscard]] const log_salts& generation() const { return header_.salts; }
    /// Up to where the frames of the generation were taken.
    [[nodiscard]] std::uint64_t taken() const { return walk_.offset(); }

    /// Up to where finished segments have them.
    [[nodiscard]] std::uint64_t sealed() const { return from_; }

    /// The generation before has ended where the last segment does.
    void next_generation(const log_header& fresh);
    /// Frames up to there, where a transaction ends. `error_code::state_changed` if the log is
    /// another one than it was.
    result<> take(log_source& files, std::uint64_t end);
    /// Finishes the segment, with the marks of what is in it, of which the last is where `taken` is.
    /// Nothing where there are no frames.
    result<std::optional<segment_facts>> seal(std::span<const commit_mark> marks);

    [[nodiscard]] bool is_copying() const { return base_.has_value(); }
    [[nodiscard]] std::uint64_t copied() const { return base_ ? base_->file.body_size() : 0; }
    result<> begin_base(wall_time now);
    /// The next piece of the file; true once the rest of it is there. What was taken is to be
    /// sealed then, and `end_base` called.
    result<bool> copy_some(log_source& files);
    result<base_facts> end_base();
    void drop_base() { base_.reset(); }

private:
    struct growing_base {
        archive_writer file;
        std::uint64_t needs = 0;
        wall_time begun_at{};
    };

    stretch_writer(identity as, std::filesystem::path folder, const log_header& header)
        : as_(std::move(as)), folder_(std::move(folder)), header_(header), walk_(header) {}
    result<bool> goes_on_from(const stretch& last, log_source& files, std::uint64_t end);
    result<bool> is_in_this_log(const segment_facts& last, log_source& files, std::uint64_t end);
    result<bool> is_the_log_before(const segment_facts& last, const log_header& its,
                                   log_source& files, std::uint64_t end) const;
    result<> begin_piece();

    identity as_;
    std::filesystem::path folder_;
    log_header header_;
    log_walk walk_;
    std::uint64_t next_number_ = 1;
    std::uint64_t generation_begins_ = 1;   // The segment that the present generation begins with.
    std::uint64_t from_ = log_header_size;  // Of the present piece.
    std::string before_;                    // The sum of the last segment,
    wall_time last_at_{};                   // and the time of its last commit.
    std::optional<archive_writer> piece_;
    std::optional<growing_base> base_;
};

}  // namespace posthorn::standby
