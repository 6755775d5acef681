// The section [standby], as it is read before anything is opened.
#include "standby/standby_settings.hpp"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>

#include "support/temporary_directory.hpp"

namespace posthorn::standby {
namespace {

using testing::HasSubstr;

constexpr auto key_text = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

class a_standby_section : public testing::Test {
protected:
    a_standby_section() {
        for (const auto& each : standby_keys()) values_.emplace(each.name, each.fallback());
    }
    void set(std::string_view key, feature_value value) {
        values_.find(key)->second = std::move(value);
    }
    void set_text(std::string_view key, std::string text) { set(key, std::move(text)); }
    void set_usable_key() {
        std::ofstream(folder_.file("pair.key")) << key_text << "\n";
        std::filesystem::permissions(folder_.file("pair.key"), std::filesystem::perms(0600));
        set_text("key", "file:" + folder_.file("pair.key"));
    }
    [[nodiscard]] feature_settings said() const { return feature_settings(values_); }
    /// Of the one problem: "key: text".
    [[nodiscard]] std::string problem() const {
        const auto found = check_standby_settings(said());
        if (found.empty()) return "none";
        return std::string(found.front().key) + ": " + found.front().why.what();
    }

    test::temporary_directory folder_;
    std::map<std::string, feature_value, std::less<>> values_;
};

TEST_F(a_standby_section, asks_for_nothing_unless_it_names_a_place) {
    EXPECT_EQ(problem(), "none");
}

TEST_F(a_standby_section, is_read_as_it_is_written) {
    set_text("to", "localhost:7402");
    set_text("mode", "async");
    set_text("when_lost", "alone");
    set("patience", std::chrono::milliseconds{250});
    set("wal_keep", std::int64_t{1} << 24);
    const auto read = read_standby_settings(said());
    ASSERT_TRUE(read) << read.error().what();
    EXPECT_EQ(read->to, (host_port{"localhost", 7402}));
    EXPECT_FALSE(read->listen);
    EXPECT_EQ(read->mode, ship_mode::async);
    EXPECT_EQ(read->lost, when_lost::alone);
    EXPECT_EQ(read->patience, std::chrono::milliseconds{250});
    EXPECT_EQ(read->wal_keep, 1U << 24);
}

TEST_F(a_standby_section, names_the_key_that_is_wrong) {
    const std::pair<std::string_view, std::string> wrong[] = {
        {"to", "standby"},       {"to", "standby:0"},
        {"to", "stand by:7402"}, {"listen", "standby.example:7402"},
        {"mode", "both"},        {"when_lost", "go"}};
    for (const auto& [key, text] : wrong) {
        const auto before = values_;
        set_text(key, text);
        EXPECT_THAT(problem(), HasSubstr(std::string(key) + ": standby." + std::string(key) +
                                         " cannot be \"" + text + "\""));
        values_ = before;
    }
    set("patience", std::chrono::milliseconds{1});
    EXPECT_THAT(problem(), HasSubstr("patience: standby.patience cannot be 1 ms"));
}

TEST_F(a_standby_section, goes_over_a_network_only_where_that_is_said) {
    set_usable_key();
    for (const std::string_view key : {"to", "listen"}) {
        set_text(key, "10.0.0.2:7402");
        EXPECT_THAT(problem(), HasSubstr("set standby.plain_text = true")) << key;
        set("plain_text", true);
        EXPECT_EQ(problem(), "none") << key;
        set("plain_text", false);
        set_text(key, "none");
    }
    set_text("to", "standby.example:7402");
    EXPECT_THAT(problem(), HasSubstr("can be read on the way"));
}

TEST_F(a_standby_section, needs_a_key_that_others_cannot_read) {
    set_text("to", "127.0.0.1:7402");
    EXPECT_THAT(problem(), HasSubstr("key: standby.key is missing"));
    set_text("key", key_text);
    EXPECT_THAT(problem(), testing::Not(HasSubstr("AAECAwQF")));
    set_usable_key();
    EXPECT_EQ(problem(), "none");
    std::filesystem::permissions(folder_.file("pair.key"), std::filesystem::perms(0644));
    EXPECT_THAT(problem(), HasSubstr("chmod 600"));
    std::filesystem::permissions(folder_.file("pair.key"), std::filesystem::perms(0600));
    std::ofstream(folder_.file("pair.key")) << key_text << " revoked\n";
    EXPECT_THAT(problem(), HasSubstr("no key that is in force"));
}

TEST_F(a_standby_section, is_for_one_file_that_is_synced) {
    const auto why = [&](const store_plan& plan) {
        const auto found = refuse_plan(said(), plan);
        return found ? std::string(found->why.what()) : "none";
    };
    const store_plan usable{.file = "orders.db"};
    EXPECT_EQ(why({.on_server = true}), "none");  // It names no place.
    set_text("to", "127.0.0.1:7402");
    EXPECT_EQ(why(usable), "none");
    EXPECT_THAT(why({.on_server = true}), HasSubstr("a PostgreSQL server has its own"));
    EXPECT_THAT(why({.file = "x.db", .in_memory = true}), HasSubstr("in memory"));
    EXPECT_THAT(why({.file = "x.db", .has_own_inbox = true}), HasSubstr("store.inbox_url"));
    EXPECT_THAT(why({.file = "x.db", .syncs_commits = false}), HasSubstr("store.synchronous"));
}

}  // namespace
}  // namespace posthorn::standby
