#include "standby/wal_format.hpp"

#include "unit/standby/shipped_log.hpp"

namespace posthorn::standby {
namespace {

class a_log : public testing::Test {
protected:
    test::temporary_directory folder_{test::folder_in_memory()};
    a_primary primary_{folder_.file("orders.db")};
};

void make_sum(std::span<std::byte> into, log_sum& sum, std::initializer_list<bytes_view> over) {
    for (const auto& bytes : over)
        for (std::size_t at = 0; at < bytes.size(); at += 8) {
            sum.first += static_cast<std::uint32_t>(read_number(bytes.subspan(at, 4))) + sum.second;
            sum.second +=
                static_cast<std::uint32_t>(read_number(bytes.subspan(at + 4, 4))) + sum.first;
        }
    write_number(into.first(4), sum.first);
    write_number(into.last(4), sum.second);
}

/// The same log as a machine with the other byte order writes it.
std::vector<std::byte> with_big_endian_sums(std::vector<std::byte> log, std::size_t frame_size) {
    const std::span all(log);
    log[3] |= std::byte{1};
    log_sum sum;
    make_sum(all.subspan(24, 8), sum, {all.first(24)});
    for (std::size_t at = log_header_size; at < log.size(); at += frame_size)
        make_sum(all.subspan(at + 16, 8), sum,
                 {all.subspan(at, 8),
                  all.subspan(at + frame_header_size, frame_size - frame_header_size)});
    return log;
}

TEST_F(a_log, is_followed_to_the_end_of_its_last_transaction) {
    primary_.add_notes(50);
    const auto log = primary_.log();
    const auto header = read_log_header(log);
    ASSERT_TRUE(header);
    EXPECT_EQ(header->page_size, 1024U);
    log_walk walk(*header);
    std::uint32_t transactions = 0;
    for (auto rest = bytes_view(log).subspan(log_header_size); !rest.empty();
         rest = rest.subspan(walk.frame_size())) {
        const auto frame = walk.step(rest);
        ASSERT_TRUE(frame);
        transactions += frame->pages_in_file != 0 ? 1 : 0;
    }
    EXPECT_EQ(transactions, 2U);
    EXPECT_EQ(walk.end().offset, log.size());
}

TEST_F(a_log, has_no_end_within_a_transaction) {
    const auto first = primary_.log().size();
    primary_.add_notes(50);
    auto log = primary_.log();
    log.resize(log.size() - 1);
    log_walk walk(primary_.header());
    walk.pass(bytes_view(log).subspan(log_header_size));
    EXPECT_EQ(walk.end().offset, first);
    EXPECT_GT(walk.offset(), first);
}

TEST_F(a_log, shows_every_byte_that_was_changed) {
    const auto log = primary_.log();
    for (std::size_t at = 0; at < log.size(); ++at) {
        auto flipped = log;
        flipped[at] ^= std::byte{0x10};
        const auto header = read_log_header(flipped);
        if (!header) continue;
        log_walk walk(*header);
        walk.pass(bytes_view(flipped).subspan(log_header_size));
        EXPECT_LT(walk.offset(), log.size()) << at;
    }
}

TEST_F(a_log, of_a_machine_with_the_other_byte_order_is_read_too) {
    primary_.add_notes(20);
    const auto log = with_big_endian_sums(primary_.log(), frame_header_size + 1024);
    const auto header = read_log_header(log);
    ASSERT_TRUE(header);
    EXPECT_TRUE(header->sums_big_endian);
    log_walk walk(*header);
    walk.pass(bytes_view(log).subspan(log_header_size));
    EXPECT_EQ(walk.end().offset, log.size());
}

TEST_F(a_log, ends_where_frames_of_an_earlier_generation_begin) {
    primary_.add_notes(200);
    const auto before = primary_.log().size();
    primary_.checkpoint();
    primary_.add_notes(1);
    const auto log = primary_.log();
    ASSERT_EQ(log.size(), before);  // It is overwritten from its beginning.
    log_walk walk(primary_.header());
    walk.pass(bytes_view(log).subspan(log_header_size));
    EXPECT_LT(walk.end().offset, before);
    EXPECT_GT(walk.end().offset, log_header_size);
}

TEST(a_log_header, is_refused_when_it_is_none_of_ours) {
    EXPECT_FALSE(read_log_header({}));
    const std::array<std::byte, log_header_size> zeros{};
    EXPECT_FALSE(read_log_header(zeros));
}

}  // namespace
}  // namespace posthorn::standby
