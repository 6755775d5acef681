#include "transport/unix/frame.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/raw_unix.hpp"

namespace posthorn {
namespace {

using test::frame_bytes;

constexpr frame_limits small{.head_bytes_max = 32, .body_bytes_max = 64};

void feed(frame_decoder& decoder, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto room = decoder.prepare();
        const auto taken = bytes.copy(room.data(), room.size());
        decoder.commit(taken);
        bytes.remove_prefix(taken);
    }
}

std::vector<frame> frames_in(frame_decoder& decoder) {
    std::vector<frame> frames;
    while (auto whole = decoder.next()) frames.push_back(*std::move(whole));
    return frames;
}

TEST(frame_prefix, is_two_sizes_with_the_high_byte_first) {
    EXPECT_EQ(frame_prefix(1, 0x01020304), std::string("\0\0\0\1\1\2\3\4", 8));
    EXPECT_EQ(frame_prefix(0xfffffffe, 0), std::string("\xff\xff\xff\xfe\0\0\0\0", 8));
}

TEST(frame_decoder, gives_frames_in_the_order_they_came) {
    frame_decoder decoder(small);
    feed(decoder, frame_bytes("a\n", "one") + frame_bytes("b\n", "") + frame_bytes("c\n", "three"));
    EXPECT_EQ(frames_in(decoder),
              (std::vector<frame>{{"a\n", "one"}, {"b\n", ""}, {"c\n", "three"}}));
    EXPECT_EQ(decoder.at(), frame_decoder::progress::between);
}

TEST(frame_decoder, needs_every_byte_wherever_the_stream_is_cut) {
    const auto bytes = frame_bytes("head\n", "body");
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
        SCOPED_TRACE(cut);
        frame_decoder decoder(small);
        feed(decoder, bytes.substr(0, cut));
        EXPECT_FALSE(decoder.next());
        EXPECT_FALSE(decoder.breach());
        feed(decoder, bytes.substr(cut));
        EXPECT_EQ(frames_in(decoder), (std::vector<frame>{{"head\n", "body"}}));
    }
}

TEST(frame_decoder, says_how_far_a_frame_has_come) {
    using enum frame_decoder::progress;
    const auto bytes = frame_bytes("head\n", "body");
    frame_decoder decoder(small);
    EXPECT_EQ(decoder.at(), between);
    std::vector<frame_decoder::progress> seen;
    for (const char each : bytes.substr(0, bytes.size() - 1)) {
        feed(decoder, {&each, 1});
        EXPECT_FALSE(decoder.next());
        seen.push_back(decoder.at());
    }
    std::vector<frame_decoder::progress> wanted(12, in_head);  // Eight of sizes, four of head.
    wanted.resize(16, in_body);
    EXPECT_EQ(seen, wanted);
}

TEST(frame_decoder, takes_frames_of_just_the_limits) {
    frame_decoder decoder(small);
    const frame largest{std::string(32, 'h'), std::string(64, 'b')};
    feed(decoder, frame_bytes(largest.head, largest.body));
    EXPECT_EQ(frames_in(decoder), std::vector<frame>{largest});
}

TEST(frame_decoder, refuses_a_body_one_byte_too_large_once_its_head_is_there) {
    const auto bytes = frame_bytes("7 POST /\n", std::string(65, 'b'));
    frame_decoder decoder(small);
    feed(decoder, bytes.substr(0, 16));
    EXPECT_FALSE(decoder.next());
    EXPECT_FALSE(decoder.breach());
    feed(decoder, bytes.substr(16, 1));
    EXPECT_FALSE(decoder.next());
    EXPECT_EQ(decoder.breach(), frame_breach::body_too_large);
    EXPECT_EQ(decoder.breached_head(), "7 POST /\n");
}

TEST(frame_decoder, refuses_a_head_one_byte_too_large_once_its_number_is_there) {
    const auto bytes = frame_bytes("18446744073709551615 POST /aaaaaa\n", "");
    frame_decoder decoder(small);
    feed(decoder, bytes.substr(0, 28));
    EXPECT_FALSE(decoder.next());
    EXPECT_FALSE(decoder.breach());
    feed(decoder, bytes.substr(28, 1));
    EXPECT_FALSE(decoder.next());
    EXPECT_EQ(decoder.breach(), frame_breach::head_too_large);
    EXPECT_EQ(decoder.breached_head(), "18446744073709551615 ");
}

TEST(frame_decoder, refuses_a_frame_without_a_head) {
    frame_decoder decoder(small);
    feed(decoder, frame_bytes("", "body"));
    EXPECT_FALSE(decoder.next());
    EXPECT_EQ(decoder.breach(), frame_breach::no_head);
}

TEST(frame_decoder, gives_nothing_more_after_a_breach) {
    frame_decoder decoder(small);
    feed(decoder, frame_bytes("a\n", "") + frame_bytes("", "") + frame_bytes("b\n", ""));
    EXPECT_EQ(frames_in(decoder), (std::vector<frame>{{"a\n", ""}}));
    EXPECT_EQ(frames_in(decoder), std::vector<frame>{});
}

TEST(frame_decoder, makes_no_room_for_what_was_only_announced) {
    frame_decoder decoder({.head_bytes_max = 32, .body_bytes_max = 0xffffffff});
    feed(decoder, std::string("\0\0\0\2\xff\xff\xff\xff", 8) + "h\n");
    EXPECT_FALSE(decoder.next());
    EXPECT_FALSE(decoder.breach());
    EXPECT_LT(decoder.prepare().size(), std::size_t{64} * 1024);
}

TEST(frame_decoder, gives_back_the_room_of_a_large_frame) {
    frame_decoder decoder({});
    feed(decoder, frame_bytes("h\n", std::string(1'000'000, 'b')));
    EXPECT_EQ(frames_in(decoder).size(), 1U);
    EXPECT_LT(decoder.prepare().size(), std::size_t{64} * 1024);
}

TEST(frame_decoder, keeps_what_is_behind_a_frame_when_it_moves_its_buffer) {
    frame_decoder decoder({});
    std::string stream;
    std::vector<frame> wanted;
    for (int i = 0; i < 200; ++i) {
        wanted.push_back(
            {std::to_string(i) + "\n", std::string(static_cast<std::size_t>(i) * 7, 'x')});
        stream += frame_bytes(wanted.back().head, wanted.back().body);
    }
    std::vector<frame> got;
    for (std::size_t at = 0; at < stream.size(); at += 1009) {
        feed(decoder, std::string_view(stream).substr(at, 1009));
        for (auto& each : frames_in(decoder)) got.push_back(std::move(each));
    }
    EXPECT_EQ(got, wanted);
}

}  // namespace
}  // namespace posthorn
