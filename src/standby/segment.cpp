#include "standby/segment.hpp"

#include <array>
#include <map>

namespace posthorn::standby {
namespace {

/// Calls `seen(frame, where)` for each that follows.
template <class Seen>
result<> for_each_frame(const plain_file& file, log_walk& walk, std::uint64_t until,
                        const Seen& seen) {
    std::vector<std::byte> bytes(walk.frame_size());
    while (walk.offset() + bytes.size() <= until) {
        const auto where = walk.offset();
        POSTHORN_LET(size, file.read(bytes, where));
        if (size < bytes.size()) break;
        const auto frame = walk.step(bytes);
        if (!frame) break;
        seen(*frame, where);
    }
    return {};
}

}  // namespace

result<segment> segment::begin(const std::filesystem::path& path, const log_header& header) {
    POSTHORN_LET(file, plain_file::open(path, plain_file::how::make));
    POSTHORN_TRY(file.write(header.bytes, 0));
    return segment(std::move(file), header);
}

result<std::optional<segment>> segment::open(const std::filesystem::path& path) {
    POSTHORN_LET(file, plain_file::open(path, plain_file::how::write));
    POSTHORN_TRY(file.sync());
    std::array<std::byte, log_header_size> bytes{};
    POSTHORN_LET(got, file.read(bytes, 0));
    const auto header = read_log_header(bytes_view(bytes).first(got));
    if (!header) return std::nullopt;
    POSTHORN_LET(size, file.size());
    segment opened(std::move(file), *header);
    POSTHORN_TRY(
        for_each_frame(opened.file_, opened.walk_, size, [](const log_frame&, std::uint64_t) {}));
    opened.drop_part();
    return opened;
}

result<> segment::append(std::uint64_t offset, bytes_view frames) {
    if (offset != walk_.offset())
        return fail(error_code::malformed_request, "frames for {} came where {} was to be", offset,
                    walk_.offset());
    auto walk = walk_;
    walk.pass(frames);
    if (walk.offset() != offset + frames.size())
        return fail(error_code::malformed_request,
                    "frames that do not follow from those before them");
    POSTHORN_TRY(file_.write(frames, offset));
    if (walk.end() != walk_.end()) POSTHORN_TRY(file_.sync());
    walk_ = walk;
    return {};
}

result<> segment::fold_into(plain_file& database) const {
    if (end().pages_in_file == 0) return {};
    std::map<std::uint32_t, std::uint64_t> last;  // Where the newest version of a page lies.
    log_walk walk(header_);
    POSTHORN_TRY(for_each_frame(
        file_, walk, end().offset,
        [&](const log_frame& each, std::uint64_t where) { last[each.page] = where; }));
    if (walk.end() != end())
        return fail(error_code::store_corrupt, "a segment of the log was changed on the disk");
    std::vector<std::byte> page(header_.page_size);
    for (const auto& [number, where] : last) {
        if (number > end().pages_in_file) break;  // Cut off since.
        POSTHORN_LET(size, file_.read(page, where + frame_header_size));
        if (size < page.size())
            return fail(error_code::store_corrupt, "a segment of the log became shorter");
        POSTHORN_TRY(database.write(page, std::uint64_t{number - 1} * page.size()));
    }
    POSTHORN_TRY(database.resize(std::uint64_t{end().pages_in_file} * page.size()));
    return database.sync();
}

}  // namespace posthorn::standby
