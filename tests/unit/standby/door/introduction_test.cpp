// How a primary begins with a standby, byte by byte; and what the two refuse of each other.
#include "standby/door/introduction.hpp"

#include <gmock/gmock.h>

#include "unit/standby/a_pair.hpp"

namespace posthorn::standby {
namespace {

using testing::HasSubstr;

const signing_key shared = make_key(key_of(1));
const signing_key older = make_key(key_of(2));
const signing_key foreign = make_key(key_of(3));
const link_identity us{.stream = {std::byte{5}}, .epoch = 3, .run = {}, .service = "orders"};

introduction a_standby() {
    return introduction({.keys = key_ring({shared, older}), .now = {}, .nonce = {std::byte{9}}});
}

/// Gives it all that it asks for; what it answers to the last part.
std::vector<std::byte> give(introduction& to, bytes_view bytes) {
    std::vector<std::byte> answer;
    while (!bytes.empty() && to.wanted() != 0) {
        const auto part = std::min(to.wanted(), bytes.size());
        if (part < to.wanted()) return {};
        answer = to.take(bytes.first(part));
        bytes = bytes.subspan(part);
    }
    return answer;
}

/// A primary that says hello with a key, and then who it is.
struct a_caller {
    link_seal seal{link_end::primary};
    link_hello hello{.key_id = shared.id, .nonce = {std::byte{4}}};

    std::vector<std::byte> greeting() { return seal.seal(link_kind::hello, {encode(hello)}); }
    void agree(const signing_key& key, bytes_view answer) {
        const auto said = link_seal(link_end::primary).open(answer);
        ASSERT_TRUE(said);
        const auto nonce = decode_nonce(said->body);
        ASSERT_TRUE(nonce);
        std::array<std::byte, 2 * nonce_size> nonces{};
        std::ranges::copy(hello.nonce, nonces.begin());
        std::ranges::copy(nonce->nonce, nonces.begin() + nonce_size);
        seal = link_seal(link_end::primary, key.value, nonces);
    }
    std::vector<std::byte> identity() { return seal.seal(link_kind::identity, {encode(us)}); }
};

std::string refusal_in(bytes_view answer) {
    const auto said = link_seal(link_end::primary).open(answer);
    return said && said->kind == link_kind::refused ? words_of(said->body) : "none";
}

TEST(an_introduction, ends_with_who_has_the_key) {
    for (const auto& key : {shared, older}) {  // As it is while keys are changed.
        auto standby = a_standby();
        a_caller caller;
        caller.hello.key_id = key.id;
        caller.agree(key, give(standby, caller.greeting()));
        EXPECT_FALSE(standby.proven());
        give(standby, caller.identity());
        EXPECT_EQ(standby.wanted(), 0U);
        EXPECT_EQ(standby.proven(), us);
    }
}

TEST(an_introduction, proves_nothing_with_a_key_that_is_not_had) {
    auto standby = a_standby();
    a_caller caller;
    caller.hello.key_id = foreign.id;
    EXPECT_THAT(refusal_in(give(standby, caller.greeting())), HasSubstr(foreign.id));
    EXPECT_EQ(standby.wanted(), 0U);
    EXPECT_FALSE(standby.proven());

    auto lied_to = a_standby();  // It names a key that it does not have.
    a_caller liar;
    liar.agree(foreign, give(lied_to, liar.greeting()));
    give(lied_to, liar.identity());
    EXPECT_FALSE(lied_to.proven());
    EXPECT_THAT(lied_to.trouble(), HasSubstr("does not have the pair's key"));
}

TEST(an_introduction, is_refused_in_words_by_version_and_role) {
    auto standby = a_standby();
    a_caller newer;
    newer.hello.version = 9;
    EXPECT_THAT(refusal_in(give(standby, newer.greeting())), HasSubstr("version 9"));
    auto other = a_standby();
    link_seal first(link_end::primary);
    EXPECT_THAT(refusal_in(give(
                    other, first.seal(link_kind::hello, {std::array<std::byte, nonce_size>{}}))),
                HasSubstr("version 1"));
    auto another = a_standby();
    a_caller standby_too;
    standby_too.hello.self = link_end::standby;
    EXPECT_THAT(refusal_in(give(another, standby_too.greeting())), HasSubstr("this is a standby"));
}

TEST(an_introduction, takes_no_more_than_a_greeting_needs) {
    auto standby = a_standby();
    std::array<std::byte, link_head_size> head{};
    head.back() = std::byte{1};
    write_number(std::span(head).subspan(8, 4), greeting_body_max + 1);
    EXPECT_TRUE(standby.take(head).empty());
    EXPECT_EQ(standby.wanted(), 0U);
    EXPECT_FALSE(standby.proven());
    auto longest = a_standby();
    write_number(std::span(head).subspan(8, 4), greeting_body_max);
    longest.take(head);
    EXPECT_LE(longest.wanted(), link_lobby::bytes_max);
}

TEST(an_introduction, survives_every_byte_that_is_changed) {
    a_caller model;
    const auto greeting = model.greeting();
    for (std::size_t at = 0; at < greeting.size(); ++at) {
        auto changed = greeting;
        changed[at] ^= std::byte{0x10};
        auto standby = a_standby();
        give(standby, changed);
        EXPECT_FALSE(standby.proven()) << at;
    }
}

TEST(a_standby, refuses_a_primary_of_another_service_stream_or_epoch) {
    const standby_self self{
        .place = {.stream = us.stream, .epoch = 3, .phase = standby_phase::following, .at = {}},
        .service = "orders"};
    EXPECT_EQ(refuse_primary(us, self), "");
    auto other = us;
    other.service = "stock";
    EXPECT_THAT(refuse_primary(other, self), HasSubstr("of the service orders, and not of stock"));
    other = us;
    other.stream = {std::byte{6}};
    EXPECT_THAT(refuse_primary(other, self), HasSubstr("another database"));
    other = us;
    other.epoch = 2;
    EXPECT_THAT(refuse_primary(other, self), HasSubstr("epoch 3, and you are of 2"));
    auto handing = self;
    handing.place.phase = standby_phase::handing;
    EXPECT_THAT(refuse_primary(us, handing), HasSubstr("gave its role away"));
    auto empty = standby_self{.place = {}, .service = "orders"};
    EXPECT_EQ(refuse_primary(us, empty), "");
}

TEST(a_primary, ships_to_no_standby_of_another_service_or_stream) {
    link_welcome welcome{
        .place = {.stream = us.stream, .epoch = 3, .phase = standby_phase::following, .at = {}},
        .can_lead = false,
        .service = "orders"};
    EXPECT_EQ(refuse_standby(welcome, us), "");
    welcome.service = "stock";
    EXPECT_THAT(refuse_standby(welcome, us), HasSubstr("of the service stock"));
    welcome.service = "orders";
    welcome.place.stream = {};
    EXPECT_THAT(refuse_standby(welcome, us), HasSubstr("another database"));
}

TEST(a_second_primary, is_let_in_only_where_it_is_the_same_or_the_other_one_ends) {
    using std::chrono::milliseconds;
    const auto judge = [](bool same, bool waits, int waited) {
        return judge_second({.is_same_run = same,
                             .other_waits = waits,
                             .waited = milliseconds(waited),
                             .patience = milliseconds(100)});
    };
    EXPECT_EQ(judge(true, true, 0), second_primary::takes_over);
    EXPECT_EQ(judge(false, false, 0), second_primary::waits);
    EXPECT_EQ(judge(false, false, 100), second_primary::is_refused);
    EXPECT_EQ(judge(false, true, 0), second_primary::is_refused);
}

TEST(words_of_the_other_end, are_cut_and_cleaned) {
    const std::string_view said = "a\x1b[2Jb";
    EXPECT_EQ(words_of(std::as_bytes(std::span(said))).find('\x1b'), std::string::npos);
    const std::string endless(5'000, 'x');
    EXPECT_LE(words_of(std::as_bytes(std::span(endless))).size(), 2 * refusal_max);
}

}  // namespace
}  // namespace posthorn::standby
