// Who comes to a standby's port: strangers, other primaries, and the right one with its key,
// certificate or socket.
#include <atomic>
#include <fstream>
#include <iterator>
#include <list>

#include <gmock/gmock.h>

#include "standby/door/pair_credentials.hpp"
#include "support/eventually.hpp"
#include "unit/standby/a_pair.hpp"
#include "unit/transport/http/test_certificate.hpp"

namespace posthorn::standby {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using state = ship_report::state;

class a_standbys_door : public testing::Test {
protected:
    void start_standby(follower_options how) {
        how.service = "orders";
        standby_.emplace(copy_, std::move(how));
    }
    void start_standby() {
        start_standby({.listen = {"127.0.0.1", 0}, .access = access_of(1)});
        place_ = {"127.0.0.1", standby_->port()};
    }
    [[nodiscard]] shipper_options options() const {
        return {.to = place_,
                .access = access_of(1),
                .stream = {std::byte{5}},
                .service = "orders",
                .patience = milliseconds{5'000},
                .beat = milliseconds{20}};
    }
    void expect_following(const shipper_options& how) {
        primary_.emplace(database_, how);
        ASSERT_TRUE(primary_->commit("CREATE TABLE IF NOT EXISTS orders (n INTEGER PRIMARY KEY)"))
            << primary_->report().trouble;
        ASSERT_TRUE(test::eventually([&] { return primary_->report().how == state::following; }))
            << primary_->report().trouble;
    }
    /// Why it does not follow.
    std::string refusal(shipper_options how) {
        how.patience = milliseconds{500};
        primary_.emplace(database_, how);
        std::string why;
        EXPECT_TRUE(test::eventually([&] {
            why = primary_->report().trouble;
            return !why.empty();
        }));
        EXPECT_FALSE(primary_->commit("CREATE TABLE refused (n)"));
        primary_.reset();
        return why;
    }

    test::temporary_directory folder_{test::folder_in_memory()};
    std::filesystem::path database_ = folder_.file("orders.db");
    std::filesystem::path copy_ = folder_.file("copy.db");
    link_place place_;
    std::optional<running_standby> standby_;
    std::optional<running_primary> primary_;
};

TEST_F(a_standbys_door, is_open_to_the_primary_though_silent_strangers_stand_in_it) {
    start_standby();
    std::list<link_socket> strangers;
    for (int i = 0; i < 60; ++i) {
        strangers.push_back(link_socket::connect(place_, milliseconds{1'000}).value());
        if (i % 2 == 0) {  // Others say a part of something, or nonsense.
            const std::array some{std::byte{0}, std::byte{0}, static_cast<std::byte>(i)};
            ASSERT_TRUE(strangers.back().write(some, milliseconds{1'000}));
        }
    }
    expect_following(options());
    // They come on while the primary works.
    for (int i = 0; i < 30; ++i) {
        strangers.push_back(link_socket::connect(place_, milliseconds{1'000}).value());
        ASSERT_TRUE(primary_->commit("INSERT INTO orders DEFAULT VALUES"));
    }
    EXPECT_EQ(primary_->report().how, state::following);
    EXPECT_EQ(primary_->report().behind, 0U);
}

TEST_F(a_standbys_door, turns_a_second_primary_away_and_goes_on_with_the_first) {
    start_standby();
    expect_following(options());
    const auto other = folder_.file("other.db");
    auto how = options();
    how.patience = milliseconds{3'000};
    running_primary second(other, how);  // With the stream and the epoch of the first.
    ASSERT_TRUE(test::eventually([&] { return second.report().is_refused; }))
        << second.report().trouble;
    EXPECT_THAT(second.report().trouble, HasSubstr("two primaries have one standby"));
    ASSERT_TRUE(primary_->commit("INSERT INTO orders DEFAULT VALUES"));
    EXPECT_EQ(primary_->report().how, state::following);
    EXPECT_THAT(standby_->report().trouble, HasSubstr("two primaries have one standby"));
}

TEST_F(a_standbys_door, lets_a_restarted_primary_in_at_once) {
    start_standby();
    for (int i = 0; i < 5; ++i) expect_following(options());
}

TEST_F(a_standbys_door, refuses_a_primary_of_another_service) {
    start_standby();
    auto how = options();
    how.service = "stock";
    EXPECT_THAT(refusal(how), HasSubstr("a standby of the service orders, and not of stock"));
}

TEST_F(a_standbys_door, takes_either_key_while_they_are_changed) {
    const auto old_key = make_key(key_of(1));
    const auto new_key = make_key(key_of(2));
    auto access = access_of(1);
    access.keys = [&]() -> result<key_ring> { return key_ring({new_key, old_key}); };
    start_standby({.listen = {"127.0.0.1", 0}, .access = access});
    place_ = {"127.0.0.1", standby_->port()};
    expect_following(options());  // It has the old one yet.
    auto how = options();
    how.access = access_of(2);
    expect_following(how);
    how.access = access_of(3);
    EXPECT_THAT(refusal(how), HasSubstr("does not have the key"));
}

TEST_F(a_standbys_door, is_found_at_a_unix_socket) {
    place_ = link_place::unix_socket(folder_.file("pair.sock"));
    start_standby({.listen = place_, .access = access_of(1)});
    expect_following(options());
    standby_.reset();
    start_standby({.listen = place_, .access = access_of(1)});  // Over what the first one left.
    expect_following(options());
}

class a_guarded_pair : public a_standbys_door {
protected:
    [[nodiscard]] pair_credentials shown_as(const std::string& name) {
        const auto made =
            test::make_certificate(folder_, name, {.host = name, .common_name = name});
        return {
            .key = "file:" + key_file_,
            .tls = {.certificate = made.certificate, .key = made.key, .peer_authority = authority_},
            .peer_name = "orders"};
    }
    /// Each vouches for itself, so that all of them together are the authority.
    void believe(const std::vector<std::string>& names) {
        std::string all;
        for (const auto& each : names) {
            std::ifstream from(folder_.file(each + ".crt"));
            all.append(std::istreambuf_iterator<char>(from), {});
        }
        std::ofstream(authority_) << all;
    }
    void make_key_file() const {
        std::ofstream(key_file_) << "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";
        std::filesystem::permissions(key_file_, std::filesystem::perms(0600));
    }
    [[nodiscard]] pair_access access(const pair_credentials& with, link_end self) const {
        return access_with(with, self, time_);
    }
    void start_guarded(const pair_credentials& with) {
        start_standby({.listen = {"127.0.0.1", 0}, .access = access(with, link_end::standby)});
        place_ = {"127.0.0.1", standby_->port()};
    }

    real_clock time_;
    std::string authority_ = folder_.file("authority.pem");
    std::string key_file_ = folder_.file("pair.key");
};

TEST_F(a_guarded_pair, talks_by_tls_with_certificates_of_both) {
    make_key_file();
    const auto both = shown_as("orders");
    believe({"orders"});
    ASSERT_TRUE(check_credentials(both, time_));
    start_guarded(both);
    auto how = options();
    how.access = access(both, link_end::primary);
    expect_following(how);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(primary_->commit("INSERT INTO orders DEFAULT VALUES"));
    primary_.reset();
    standby_.reset();
    EXPECT_EQ(rows_after_promotion(copy_), 20);
}

TEST_F(a_guarded_pair, trusts_no_certificate_of_another_name_or_authority) {
    make_key_file();
    const auto right = shown_as("orders");
    const auto named_otherwise = shown_as("stock");
    believe({"orders", "stock"});
    start_guarded(right);
    auto how = options();
    how.access = access(named_otherwise, link_end::primary);
    refusal(how);  // The standby does not trust it, and says so in its own report.
    EXPECT_THAT(standby_->report().trouble, HasSubstr("of stock, and not of orders"));

    believe({"orders"});
    how.access = access(named_otherwise, link_end::primary);
    refusal(how);
    standby_.reset();
    start_guarded(named_otherwise);
    how.to = place_;
    how.access = access(right, link_end::primary);
    EXPECT_THAT(refusal(how), HasSubstr("not trusted"));
}

TEST_F(a_guarded_pair, takes_no_plain_text_while_a_certificate_cannot_be_read) {
    make_key_file();
    std::atomic<bool> is_there = false;
    auto access = access_of(1);
    access.security = [&]() -> result<link_security> {
        if (is_there) return link_security{};
        return fail(error_code::certificate_unusable, "it is being changed");
    };
    start_standby({.listen = {"127.0.0.1", 0}, .access = access});
    place_ = {"127.0.0.1", standby_->port()};
    EXPECT_FALSE(refusal(options()).empty());
    EXPECT_THAT(standby_->report().trouble, HasSubstr("cannot be read"));
    is_there = true;
    expect_following(options());
    primary_.reset();
    standby_.reset();
}

TEST_F(a_guarded_pair, says_what_is_wrong_where_one_talks_in_plain_text) {
    make_key_file();
    const auto both = shown_as("orders");
    believe({"orders"});
    start_guarded(both);
    EXPECT_FALSE(refusal(options()).empty());
    standby_.reset();
    start_standby();
    auto how = options();
    how.access = access(both, link_end::primary);
    EXPECT_THAT(refusal(how), HasSubstr("TLS"));
}

}  // namespace
}  // namespace posthorn::standby
