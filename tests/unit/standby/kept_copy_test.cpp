#include "standby/kept_copy.hpp"

#include <algorithm>

#include "unit/standby/shipped_log.hpp"

namespace posthorn::standby {
namespace {

namespace fs = std::filesystem;

class a_kept_copy : public testing::Test {
protected:
    void open() {
        copy_.reset();
        auto opened = kept_copy::open(path_);
        ASSERT_TRUE(opened) << opened.error().what();
        copy_ = *std::move(opened);
    }
    void copy_file() {
        const auto bytes = primary_.file();
        done(copy_->begin_copy({.stream = {std::byte{1}}, .epoch = 1}, primary_.header()));
        done(copy_->write_pages(bytes, 0));
        done(copy_->end_copy(bytes.size()));
    }
    void ship() {
        const auto at = copy_->place().at;
        if (at.salts != primary_.header().salts) done(copy_->next_generation(primary_.header()));
        const auto from = copy_->place().at.offset;
        done(copy_->append(from, primary_.frames_from(from)));
    }
    static void done(const result<>& outcome) {
        ASSERT_TRUE(outcome.has_value()) << outcome.error().what();
    }
    void expect_equal_after_promotion() {
        done(copy_->promote(2));
        copy_.reset();
        primary_.checkpoint();
        EXPECT_TRUE(primary_.file() == bytes_of(path_));
        EXPECT_EQ(segments_left(), 0);
    }
    [[nodiscard]] std::ptrdiff_t segments_left() const {
        return std::ranges::count_if(fs::directory_iterator(folder_.path()), [](const auto& each) {
            return each.path().string().contains("-log-");
        });
    }

    test::temporary_directory folder_{test::folder_in_memory()};
    a_primary primary_{folder_.file("orders.db")};
    fs::path path_ = folder_.file("copy.db");
    std::unique_ptr<kept_copy> copy_;
};

TEST_F(a_kept_copy, is_the_primarys_file_byte_for_byte) {
    primary_.add_notes(30);
    open();
    copy_file();
    ship();
    primary_.run("DELETE FROM notes WHERE id % 3 = 0; UPDATE notes SET text = 'changed'");
    ship();
    expect_equal_after_promotion();
}

TEST_F(a_kept_copy, holds_over_generations_kills_and_folds) {
    open();
    copy_file();
    for (int round = 0; round < 12; ++round) {
        primary_.add_notes(20 + round);
        ship();
        if (round % 2 == 0) primary_.checkpoint();
        if (round % 3 == 0) done(copy_->fold());
        if (round % 4 == 1) open();
    }
    EXPECT_LE(segments_left(), 9);
    expect_equal_after_promotion();
}

TEST_F(a_kept_copy, becomes_shorter_as_the_primary_does) {
    primary_.add_notes(500);
    open();
    copy_file();
    ship();
    primary_.run("DELETE FROM notes; VACUUM");
    ship();
    expect_equal_after_promotion();
}

TEST_F(a_kept_copy, of_a_file_that_changed_meanwhile_is_mended_by_the_log) {
    primary_.add_notes(100);
    open();
    const auto stale = primary_.file();
    done(copy_->begin_copy({.epoch = 1}, primary_.header()));
    done(copy_->write_pages(stale, 0));
    ship();
    primary_.checkpoint();
    primary_.add_notes(100);
    ship();
    EXPECT_FALSE(copy_->has_finished());  // Else the copy's old pages would come over new ones.
    const auto torn = primary_.file();
    done(copy_->write_pages(bytes_view(torn).first(torn.size() / 2), 0));
    done(copy_->end_copy(stale.size()));
    EXPECT_TRUE(copy_->has_finished());
    done(copy_->fold());
    expect_equal_after_promotion();
}

TEST_F(a_kept_copy, uses_the_files_of_generations_again) {
    open();
    copy_file();
    for (int round = 0; round < 10; ++round) {
        primary_.add_notes(5);
        ship();
        primary_.checkpoint();
        done(copy_->fold());
        EXPECT_LE(segments_left(), 3) << round;
    }
}

TEST_F(a_kept_copy, ends_where_the_last_whole_transaction_did_after_a_kill) {
    open();
    copy_file();
    ship();
    const auto before = copy_->place();
    primary_.add_notes(50);
    const auto frames = primary_.frames_from(before.at.offset);
    const auto part = frames.size() / 2 / (frame_header_size + 1024) * (frame_header_size + 1024);
    done(copy_->append(before.at.offset, bytes_view(frames).first(part)));
    EXPECT_EQ(copy_->place(), before);
    open();
    EXPECT_EQ(copy_->place(), before);
    ship();
    expect_equal_after_promotion();
}

TEST_F(a_kept_copy, takes_the_parts_of_a_large_transaction_one_after_the_other) {
    open();
    copy_file();
    ship();
    primary_.add_notes(50);
    const auto from = copy_->place().at.offset;
    const auto frames = primary_.frames_from(from);
    const std::size_t one = frame_header_size + 1024;
    for (std::size_t at = 0; at < frames.size(); at += one)
        done(copy_->append(from + at, bytes_view(frames).subspan(at, one)));
    EXPECT_EQ(copy_->place().at.offset, from + frames.size());
    expect_equal_after_promotion();
}

TEST_F(a_kept_copy, refuses_frames_that_do_not_follow) {
    open();
    copy_file();
    ship();
    const auto at = copy_->place().at;
    primary_.add_notes(3);
    auto frames = primary_.frames_from(at.offset);
    EXPECT_FALSE(copy_->append(at.offset + 1, frames));
    EXPECT_FALSE(copy_->append(at.offset, bytes_view(frames).first(frames.size() - 1)));
    frames[40] ^= std::byte{1};
    EXPECT_EQ(copy_->append(at.offset, frames).error().code(), error_code::malformed_request);
    EXPECT_EQ(copy_->place().at, at);
    ship();
    expect_equal_after_promotion();
}

TEST_F(a_kept_copy, is_not_promoted_before_it_is_whole) {
    open();
    EXPECT_FALSE(copy_->promote(2));
    done(copy_->begin_copy({.epoch = 1}, primary_.header()));
    EXPECT_FALSE(copy_->promote(2));
    open();
    EXPECT_EQ(copy_->place().phase, standby_phase::copying);
}

TEST_F(a_kept_copy, is_no_standby_any_more_once_it_was_promoted) {
    open();
    copy_file();
    ship();
    done(copy_->promote(5));
    EXPECT_EQ(copy_->place().phase, standby_phase::promoted);
    EXPECT_EQ(copy_->state().epoch, 5U);
    copy_.reset();
    const auto again = kept_copy::open(path_);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code(), error_code::invalid_argument);
}

TEST_F(a_kept_copy, belongs_to_one_process) {
    open();
    const auto second = kept_copy::open(path_);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), error_code::store_busy);
}

TEST_F(a_kept_copy, does_not_take_the_place_of_a_database_of_its_own) {
    const auto refused = kept_copy::open(folder_.file("orders.db"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::invalid_argument);
}

TEST(a_pair_state, is_read_as_it_was_written_and_never_otherwise) {
    const pair_state state{.as = pair_state::role::primary,
                           .stream = {std::byte{0xab}},
                           .epoch = 12,
                           .phase = standby_phase::promoted,
                           .oldest_segment = 99,
                           .may_lack = true};
    const auto text = to_text(state);
    EXPECT_EQ(parse_pair_state(text), state);
    for (std::size_t at = 0; at < text.size(); ++at) {
        auto changed = text;
        changed[at] ^= 1;
        EXPECT_FALSE(parse_pair_state(changed)) << at;
        EXPECT_FALSE(parse_pair_state(std::string_view(text).substr(0, at))) << at;
    }
}

}  // namespace
}  // namespace posthorn::standby
