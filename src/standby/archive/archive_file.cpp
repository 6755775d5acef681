#include "standby/archive/archive_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "security/hex.hpp"

namespace posthorn::standby {
namespace {

constexpr std::size_t part_size = std::size_t{256} * 1024;

}  // namespace

result<archive_writer> archive_writer::begin(const std::filesystem::path& unfinished) {
    POSTHORN_LET(file, plain_file::open(unfinished, plain_file::how::make));
    archive_writer begun(unfinished, std::move(file));
    POSTHORN_TRY(begun.file_.resize(0));
    return begun;
}

archive_writer::~archive_writer() {
    if (!open_) return;
    std::error_code unusable;
    std::filesystem::remove(unfinished_, unusable);
}

archive_writer::archive_writer(archive_writer&& other) noexcept
    : unfinished_(std::move(other.unfinished_)),
      file_(std::move(other.file_)),
      sum_(std::move(other.sum_)),
      size_(other.size_),
      open_(std::exchange(other.open_, false)) {}

result<> archive_writer::add(bytes_view bytes) {
    POSTHORN_TRY(file_.write(bytes, archive_head_size + size_));
    sum_->add(bytes);
    size_ += bytes.size();
    return {};
}

result<std::string> archive_writer::keep(std::string_view head, const std::filesystem::path& name) {
    sum_->add(head);
    const auto sum = sum_->finish();
    POSTHORN_TRY(file_.write(sum, archive_head_size + size_));
    POSTHORN_TRY(file_.write(std::as_bytes(std::span(head)), 0));
    POSTHORN_TRY(file_.sync());
    std::error_code failure;
    std::filesystem::rename(unfinished_, name, failure);
    if (failure)
        return fail(error_code::io_failed, "cannot name {}: {}", name.string(), failure.message());
    open_ = false;
    POSTHORN_TRY(sync_names_beside(name));
    return to_hex(sum);
}

result<archive_reader> archive_reader::open(const std::filesystem::path& path) {
    POSTHORN_LET(file, plain_file::open(path, plain_file::how::read));
    POSTHORN_LET(size, file.size());
    archive_reader opened(path, std::move(file));
    if (size < archive_head_size + archive_sum_size)
        return fail(error_code::store_corrupt, "{} is shorter than any file of an archive",
                    path.string());
    opened.head_.resize(archive_head_size);
    POSTHORN_LET(got, opened.file_.read(std::as_writable_bytes(std::span(opened.head_)), 0));
    opened.head_.resize(got);
    opened.body_size_ = size - archive_head_size - archive_sum_size;
    return opened;
}

result<std::string> archive_reader::kept_sum() const {
    std::array<std::byte, archive_sum_size> kept{};
    POSTHORN_LET(got, file_.read(kept, archive_head_size + body_size_));
    return to_hex(bytes_view(kept).first(got));
}

result<std::size_t> archive_reader::read(std::span<std::byte> into, std::uint64_t at) const {
    const auto left = at < body_size_ ? body_size_ - at : 0;
    const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left));
    return file_.read(into.first(room), archive_head_size + at);
}

result<std::string> archive_reader::verify(
    const std::function<result<>(bytes_view, std::uint64_t)>& seen) const {
    sha256 sum;
    std::vector<std::byte> part(part_size);
    std::uint64_t at = 0;
    while (at < body_size_) {
        POSTHORN_LET(got, read(part, at));
        if (got == 0) break;
        const auto bytes = bytes_view(part).first(got);
        sum.add(bytes);
        if (seen) POSTHORN_TRY(seen(bytes, at));
        at += got;
    }
    sum.add(head_);
    POSTHORN_LET(kept, kept_sum());
    auto made = to_hex(sum.finish());
    if (at != body_size_ || made != kept)
        return fail(error_code::store_corrupt, "{} is damaged: its checksum does not hold",
                    path_.string());
    return made;
}

}  // namespace posthorn::standby
