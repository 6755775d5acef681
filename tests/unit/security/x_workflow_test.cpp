#include "security/x_workflow.hpp"

#include <gtest/gtest.h>

#include "security/hex.hpp"
#include "security/hmac.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr wall_time now{std::chrono::sys_days{std::chrono::year{2026} / 2 / 14} + 12h + 300ms};
constexpr std::string_view body = R"({"commandId":"1"})";

signing_key key_of(char each) {
    const std::string bytes(32, each);
    return make_key(secret(std::as_bytes(std::span(bytes))));
}

key_ring ring(std::vector<signing_key> keys) {
    return key_ring(std::move(keys), signature_scheme::x_workflow);
}

std::string signature_over(std::string_view text, char key = 'k') {
    return to_hex(hmac_of(key_of(key).value, text));
}

TEST(x_workflow, signs_the_seconds_a_full_stop_and_the_body) {
    const auto made = sign_x_workflow(ring({key_of('k')}), body, now);
    ASSERT_TRUE(made);
    EXPECT_EQ(*made, "t=1771070400,v1=" + signature_over(R"(1771070400.{"commandId":"1"})"));
    EXPECT_TRUE(verify_x_workflow(ring({key_of('k')}), *made, body, now));
}

TEST(x_workflow, takes_one_right_signature_among_several_and_fields_unknown) {
    const auto keys = ring({key_of('k')});
    const auto right = signature_over(R"(1771070400.{"commandId":"1"})");
    const std::string wrong(64, '0');
    for (const auto& header : {fmt::format("t=1771070400,v1={},v1={}", wrong, right),
                               fmt::format("v1={}, v0=xyz, t=1771070400", right)})
        EXPECT_TRUE(verify_x_workflow(keys, header, body, now)) << header;
}

TEST(x_workflow, refuses_what_is_changed_old_or_not_clear) {
    const auto keys = ring({key_of('k')});
    const auto right = signature_over(R"(1771070400.{"commandId":"1"})");
    const auto other_time = signature_over(R"(1771070399.{"commandId":"1"})");
    for (const auto& header :
         {std::string(), fmt::format("v1={}", right), std::string("t=1771070400"),
          fmt::format("t=1771070400,v1={}", other_time),
          fmt::format("t=1771070400,v1={}", signature_over(R"({"commandId":"1"})")),
          fmt::format("t=1771070400,v1={}", right.substr(1)),
          fmt::format("t=1771070400,v0={}", right),
          fmt::format("t=1771070400,t=1771070399,v1={}", other_time),
          fmt::format("t=-1,v1={}", right), fmt::format("t=x,v1={}", right)}) {
        const auto checked = verify_x_workflow(keys, header, body, now);
        ASSERT_FALSE(checked) << header;
        EXPECT_EQ(checked.error().code(), error_code::bad_signature);
    }
    const auto good = fmt::format("t=1771070400,v1={}", right);
    EXPECT_FALSE(verify_x_workflow(keys, good, R"({"commandId":"2"})", now));
    EXPECT_FALSE(verify_x_workflow(ring({key_of('o')}), good, body, now));
}

TEST(x_workflow, holds_for_five_minutes_either_way) {
    const auto keys = ring({key_of('k')});
    const auto made = *sign_x_workflow(keys, body, now);
    EXPECT_TRUE(verify_x_workflow(keys, made, body, now + 5min - 300ms));
    EXPECT_FALSE(verify_x_workflow(keys, made, body, now + 5min));
    EXPECT_TRUE(verify_x_workflow(keys, made, body, now - 5min - 300ms));
    EXPECT_FALSE(verify_x_workflow(keys, made, body, now - 5min - 301ms));
}

TEST(x_workflow, is_no_way_in_for_a_peer_that_signs_otherwise) {
    const auto made = *sign_x_workflow(ring({key_of('k')}), body, now);
    EXPECT_FALSE(verify_x_workflow(key_ring({key_of('k')}), made, body, now));
    EXPECT_FALSE(
        verify_x_workflow(key_ring({key_of('k')}, signature_scheme::rf_hmac), made, body, now));
}

}  // namespace
}  // namespace posthorn
