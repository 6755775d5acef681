#include "admin/access/access.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::HasSubstr;
using testing::Not;

struct rig {
    seeded_random random{1};
    new_admin_key viewer = make_admin_key(random);
    new_admin_key worker = make_admin_key(random);
    new_admin_key boss = make_admin_key(random);

    [[nodiscard]] std::vector<admin_key> keys() const {
        return {{"wall", admin_role::viewer, *parse_key_hash(viewer.hash)},
                {"robot", admin_role::worker, *parse_key_hash(worker.hash)},
                {"desk-3", admin_role::operator_, *parse_key_hash(boss.hash), {.payloads = true}}};
    }
    [[nodiscard]] admin_access access(bool loopback = true) const {
        return admin_access({.loopback = loopback, .keys = keys()});
    }
};

http_request with_key(const std::string& key) {
    http_request request;
    request.headers.add("Host", "127.0.0.1:7401");
    if (!key.empty()) request.headers.add("Authorization", "Bearer " + key);
    return request;
}

http_request with(std::string name, std::string value) {
    auto request = http_request{};
    request.headers.add(std::move(name), std::move(value));
    return request;
}

TEST(admin_key, is_32_random_bytes_that_are_stored_as_their_hash) {
    seeded_random random{1};
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) {
        const auto made = make_admin_key(random);
        EXPECT_TRUE(made.key.starts_with("phk_"));
        EXPECT_EQ(made.key.size(), 4U + 43U);  // 256 bits, six a character.
        EXPECT_EQ(made.key.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                             "0123456789-_"),
                  std::string::npos);
        EXPECT_TRUE(parse_key_hash(made.hash));
        EXPECT_EQ(*parse_key_hash(made.hash), sha256_of({made.key}));
        EXPECT_TRUE(seen.insert(made.key).second);
    }
}

TEST(admin_key, base64url_of_known_bytes) {
    struct ones final : random_source {
        void fill(std::span<std::byte> out) override { std::ranges::fill(out, std::byte{0xff}); }
        std::uint64_t next() override { return 0; }
    } random;
    EXPECT_EQ(make_admin_key(random).key, "phk_" + std::string(42, '_') + "8");
}

TEST(admin_key, hashes_of_another_form_are_refused) {
    const auto good = "sha256:" + std::string(64, 'a');
    EXPECT_TRUE(parse_key_hash(good));
    EXPECT_FALSE(parse_key_hash(""));
    EXPECT_FALSE(parse_key_hash(std::string(64, 'a')));
    EXPECT_FALSE(parse_key_hash("sha256:" + std::string(63, 'a')));
    EXPECT_FALSE(parse_key_hash("sha256:" + std::string(65, 'a')));
    EXPECT_FALSE(parse_key_hash("sha256:" + std::string(63, 'a') + "G"));
}

TEST(admin_key, roles_have_names) {
    for (const auto role : {admin_role::viewer, admin_role::worker, admin_role::operator_})
        EXPECT_EQ(parse_admin_role(to_string(role)), role);
    EXPECT_EQ(to_string(admin_role::operator_), "operator");
    EXPECT_FALSE(parse_admin_role("root"));
}

TEST(admin_access, each_role_may_do_its_own_and_an_operator_everything) {
    const rig keys;
    const auto access = keys.access();
    using role = admin_role;
    struct row {
        std::string key;
        role needed;
        bool let_in;
    };
    for (const auto& [key, needed, let_in] :
         {row{keys.viewer.key, role::viewer, true}, row{keys.viewer.key, role::worker, false},
          row{keys.viewer.key, role::operator_, false}, row{keys.worker.key, role::viewer, false},
          row{keys.worker.key, role::worker, true}, row{keys.worker.key, role::operator_, false},
          row{keys.boss.key, role::viewer, true}, row{keys.boss.key, role::worker, true},
          row{keys.boss.key, role::operator_, true}}) {
        const auto caller = access.admit(with_key(key), needed);
        EXPECT_EQ(caller.has_value(), let_in) << to_string(needed);
        if (!caller) EXPECT_EQ(caller.error().status, 403);
    }
    EXPECT_EQ(access.admit(with_key(keys.boss.key), role::viewer)->name, "desk-3");
    EXPECT_TRUE(access.admit(with_key(keys.boss.key), role::viewer)->rights.payloads);
    EXPECT_FALSE(access.admit(with_key(keys.viewer.key), role::viewer)->rights.payloads);
}

TEST(admin_access, an_unknown_key_is_refused_and_not_quoted) {
    const rig keys;
    for (const auto& wrong : {std::string("phk_guess"), keys.boss.key + "x", keys.boss.hash,
                              keys.boss.key.substr(0, 20), std::string(100'000, 'a')}) {
        const auto caller = keys.access().admit(with_key(wrong), admin_role::viewer);
        ASSERT_FALSE(caller);
        EXPECT_EQ(caller.error().status, 401);
        EXPECT_THAT(caller.error().why, Not(HasSubstr(wrong)));
    }
}

TEST(admin_access, a_wrong_key_counts_where_none_would_be_needed) {
    const admin_access open({.loopback = true});
    const auto caller = open.admit(with_key("phk_guess"), admin_role::viewer);
    ASSERT_FALSE(caller);
    EXPECT_THAT(caller.error().why, HasSubstr("unset POSTHORN_ADMIN_KEY"));
}

TEST(admin_access, looking_needs_no_key_on_loopback_while_none_is_configured) {
    const rig keys;
    const auto nobody = with_key("");
    EXPECT_TRUE(admin_access({.loopback = true}).admit(nobody, admin_role::viewer));
    EXPECT_FALSE(admin_access({.loopback = false}).admit(nobody, admin_role::viewer));
    EXPECT_FALSE(keys.access(true).admit(nobody, admin_role::viewer));
    const auto caller = admin_access({.loopback = true}).admit(nobody, admin_role::viewer);
    EXPECT_FALSE(caller->rights.payloads);
}

TEST(admin_access, changing_and_working_always_need_a_key) {
    for (const auto needed : {admin_role::worker, admin_role::operator_}) {
        const auto caller = admin_access({.loopback = true}).admit(with_key(""), needed);
        ASSERT_FALSE(caller);
        EXPECT_EQ(caller.error().status, 401);
        EXPECT_THAT(caller.error().why, HasSubstr(to_string(needed)));
    }
}

TEST(admin_access, pages_of_another_origin_are_refused_whatever_their_key) {
    const rig keys;
    const auto access = keys.access();
    for (const auto* origin : {"http://evil.example", "null", "", "http://127.0.0.1:7400",
                               "https://127.0.0.1:7401.evil.example"}) {
        auto request = with_key(keys.boss.key);
        request.headers.add("Origin", origin);
        const auto caller = access.admit(request, admin_role::viewer);
        ASSERT_FALSE(caller) << origin;
        EXPECT_EQ(caller.error().status, 403);
    }
    auto own = with_key(keys.boss.key);
    own.headers.add("Origin", "http://127.0.0.1:7401");
    EXPECT_TRUE(access.admit(own, admin_role::viewer));
}

TEST(admin_access, a_foreign_name_that_leads_to_this_machine_needs_a_key) {
    const admin_access open({.loopback = true});
    for (const auto* host :
         {"localhost", "localhost:7401", "127.0.0.1:7401", "127.1.2.3", "[::1]:7401"})
        EXPECT_TRUE(open.admit(with("Host", host), admin_role::viewer)) << host;
    for (const auto* host : {"evil.example", "evil.example:7401", "127.0.0.1.evil.example",
                             "localhost.evil.example", "192.168.0.1", "[::1].evil.example"}) {
        const auto caller = open.admit(with("Host", host), admin_role::viewer);
        ASSERT_FALSE(caller) << host;
        EXPECT_EQ(caller.error().status, 403);
    }
}

TEST(admin_access, new_keys_count_at_once_and_old_ones_no_more) {
    rig keys;
    auto access = keys.access();
    const auto fresh = make_admin_key(keys.random);
    access.replace({{"new", admin_role::viewer, *parse_key_hash(fresh.hash)}});
    EXPECT_TRUE(access.admit(with_key(fresh.key), admin_role::viewer));
    EXPECT_FALSE(access.admit(with_key(keys.boss.key), admin_role::viewer));
}

}  // namespace
}  // namespace posthorn
