#include "standby/archive/archive_format.hpp"

#include <gtest/gtest.h>

#include "standby/archive/archive_file.hpp"
#include "unit/standby/archive/an_archive.hpp"

namespace posthorn::standby {
namespace {

using std::chrono::milliseconds;

wall_time at(std::int64_t ms) { return wall_time(milliseconds(ms)); }

constexpr std::uint32_t page_size = 1024;
constexpr std::uint64_t frame = frame_header_size + page_size;

segment_facts some_segment() {
    return {.service = "orders",
            .epoch = 3,
            .number = 12,
            .generation = {std::byte{0xfe}, std::byte{1}},
            .from = log_header_size + frame,
            .to = log_header_size + (4 * frame),
            .sum = {0xdeadbeef, 7},
            .page_size = page_size,
            .commits = 2,
            .first_at = at(1'000),
            .last_at = at(2'000),
            .before = "00ff"};
}

base_facts some_base() {
    return {.service = "orders",
            .epoch = 3,
            .needs = 10,
            .whole = 12,
            .bytes = 4096,
            .begun_at = at(500),
            .whole_at = at(2'000)};
}

TEST(an_archives_head, is_read_as_it_was_written) {
    EXPECT_EQ(encode_head(some_segment()).size(), archive_head_size);
    EXPECT_EQ(decode_segment_head(encode_head(some_segment())), some_segment());
    EXPECT_EQ(decode_base_head(encode_head(some_base())), some_base());
    EXPECT_FALSE(decode_base_head(encode_head(some_segment())));
    EXPECT_FALSE(decode_segment_head(encode_head(some_base())));
}

TEST(an_archives_head, is_refused_where_it_is_short_or_says_what_cannot_be) {
    const auto head = encode_head(some_segment());
    for (std::size_t size = 0; size < head.size(); size += 37)
        EXPECT_FALSE(decode_segment_head(std::string_view(head).substr(0, size))) << size;
    const auto refused = [](auto change) {
        auto facts = some_segment();
        change(facts);
        return !decode_segment_head(encode_head(facts));
    };
    EXPECT_TRUE(refused([](auto& f) { f.number = 0; }));
    EXPECT_TRUE(refused([](auto& f) { f.page_size = 1000; }));
    EXPECT_TRUE(refused([](auto& f) { f.from = 0; }));
    EXPECT_TRUE(refused([](auto& f) { f.from += 1; }));
    EXPECT_TRUE(refused([](auto& f) { f.to = f.from; }));
    EXPECT_TRUE(refused([](auto& f) { f.to = UINT64_MAX; }));
    EXPECT_TRUE(refused([](auto& f) { f.commits = 0; }));
    EXPECT_TRUE(refused([](auto& f) { f.commits = 4; }));  // More than frames.
    auto base = some_base();
    base.needs = 14;
    EXPECT_FALSE(decode_base_head(encode_head(base)));
}

TEST(an_archives_marks, are_read_as_they_were_written_and_only_in_order) {
    const auto facts = some_segment();
    const auto end = [](std::uint64_t frames) { return log_header_size + (frames * frame); };
    const std::vector<commit_mark> marks{{end(2), at(1'000)}, {end(4), at(2'000)}};
    EXPECT_EQ(decode_marks(encode_marks(marks), facts), marks);
    const auto refused = [&](const std::vector<commit_mark>& wrong) {
        return !decode_marks(encode_marks(wrong), facts);
    };
    EXPECT_TRUE(refused({{end(4), at(1)}}));
    EXPECT_TRUE(refused({{end(4), at(1)}, {end(2), at(2)}}));
    EXPECT_TRUE(refused({{end(2), at(1)}, {end(3), at(2)}}));  // They end before the segment does.
    EXPECT_TRUE(refused({{end(2), at(1)}, {end(5), at(2)}}));
    EXPECT_TRUE(refused({{end(1), at(1)}, {end(4), at(2)}}));
}

TEST(an_archives_names, hold_a_number_and_a_time) {
    EXPECT_EQ(segment_name(12), "log-000000000012");
    EXPECT_EQ(number_in("log-000000000012", "log-"), 12U);
    EXPECT_FALSE(number_in("log-12", "log-"));
    EXPECT_FALSE(number_in("log-000000000012.new", "log-"));
    EXPECT_FALSE(number_in("base-000000000012", "log-"));
    const auto name = stretch_name("orders", at(1'771'070'400'000), 0xbadcafe);
    EXPECT_EQ(name, "orders-20260214T120000Z-0badcafe");
    EXPECT_TRUE(is_stretch_name(name, "orders"));
    EXPECT_FALSE(is_stretch_name(name, "order"));
    EXPECT_FALSE(is_stretch_name("orders-eu-20260214T120000Z-0badcafe", "orders"));
    EXPECT_FALSE(is_stretch_name("orders-20260214T120000Z-0badcafX", "orders"));
    EXPECT_FALSE(is_stretch_name("", "orders"));
}

TEST(an_archives_file, is_whole_to_the_last_bit) {
    test::temporary_directory folder(test::folder_in_memory());
    const std::filesystem::path path = folder.file("log-000000000012");
    const std::string body(300'000, 'x');
    std::string sum;
    {
        auto writer = archive_writer::begin(folder.file("log.new")).value();
        ASSERT_TRUE(writer.add(std::as_bytes(std::span(body))));
        EXPECT_FALSE(std::filesystem::exists(path));
        sum = writer.keep(encode_head(some_segment()), path).value();
    }
    EXPECT_FALSE(std::filesystem::exists(folder.file("log.new")));
    const auto read = [&] { return archive_reader::open(path).value().verify({}); };
    EXPECT_EQ(read(), sum);
    EXPECT_EQ(archive_reader::open(path).value().kept_sum(), sum);
    auto file = plain_file::open(path, plain_file::how::write).value();
    const auto size = file.size().value();
    for (std::uint64_t where = 0; where < size; where += size / 50) {
        std::array<std::byte, 1> one{};
        ASSERT_TRUE(file.read(one, where));
        one[0] ^= std::byte{1};
        ASSERT_TRUE(file.write(one, where));
        const auto damaged = read();
        ASSERT_FALSE(damaged) << where;
        EXPECT_EQ(damaged.error().code(), error_code::store_corrupt);
        one[0] ^= std::byte{1};
        ASSERT_TRUE(file.write(one, where));
    }
    EXPECT_EQ(read(), sum);
    ASSERT_TRUE(file.resize(size - 1));
    EXPECT_FALSE(read());
    ASSERT_TRUE(file.resize(100));
    EXPECT_FALSE(archive_reader::open(path));
}

TEST(an_archives_file, is_gone_where_it_was_not_kept) {
    test::temporary_directory folder(test::folder_in_memory());
    const auto name = folder.file("log.new");
    {
        auto writer = archive_writer::begin(name).value();
        EXPECT_TRUE(std::filesystem::exists(name));
    }
    EXPECT_FALSE(std::filesystem::exists(name));
}

}  // namespace
}  // namespace posthorn::standby
