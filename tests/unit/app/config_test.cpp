#include "app/config.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string problem_of(std::string_view text) {
    const auto loaded = parse_config(text, "p.toml");
    if (loaded) return "no problem";
    EXPECT_EQ(loaded.error().code(), error_code::invalid_configuration);
    return loaded.error().what();
}

TEST(config, holds_the_documented_defaults_without_a_file) {
    const auto settings = parse_config("", "empty.toml").value();
    EXPECT_EQ(settings.service.id, "posthorn");
    EXPECT_EQ(to_string(settings.listen.http), "127.0.0.1:7400");
    EXPECT_EQ(to_string(settings.listen.admin), "127.0.0.1:7401");
    EXPECT_EQ(settings.log.level, log_level::info);
    EXPECT_EQ(settings.log.format, log_format::text);
    EXPECT_TRUE(settings.origins.empty());
}

TEST(config, takes_every_key_from_the_file) {
    const auto settings = parse_config(R"(
[service]
id = "orders"
[listen]
http = "0.0.0.0:80"
admin = "[::1]:0"
[log]
level = "warn"
format = "json"
)",
                                       "p.toml")
                              .value();
    EXPECT_EQ(settings.service.id, "orders");
    EXPECT_EQ(settings.listen.http, (host_port{"0.0.0.0", 80}));
    EXPECT_EQ(settings.listen.admin, (host_port{"::1", 0}));
    EXPECT_EQ(settings.log.level, log_level::warn);
    EXPECT_EQ(settings.log.format, log_format::json);
}

struct bad_case {
    std::string_view text;
    std::string_view message;
};

TEST(config, says_where_what_is_wrong_and_what_to_write_instead) {
    const std::array cases{
        bad_case{"[service]\nid = 5", "p.toml:2: service.id cannot be 5; write a string"},
        bad_case{"[service]\nid = \"\"", "p.toml:2: service.id cannot be \"\"; write a string"},
        bad_case{"[service]\nid = true", "p.toml:2: service.id cannot be true; write"},
        bad_case{"[service]\nid = 1.5", "p.toml:2: service.id cannot be 1.5; write"},
        bad_case{"[service]\nid = [1]", "p.toml:2: service.id cannot be an array; write"},
        bad_case{"[service]\nid = {a=1}", "p.toml:2: service.id cannot be a table; write"},
        bad_case{"[service]\nid = 2026-01-01", "p.toml:2: service.id cannot be a date"},
        bad_case{"[listen]\n\nhttp = \"here\"",
                 "p.toml:3: listen.http cannot be \"here\"; write \"ADDRESS:PORT\", such as"},
        bad_case{"[listen]\nhttp = 7400", "p.toml:2: listen.http cannot be 7400; write"},
        bad_case{"[log]\nlevel = \"loud\"",
                 "p.toml:2: log.level cannot be \"loud\"; write one of \"trace\", \"debug\""},
        bad_case{"[log]\nformat = \"xml\"",
                 "p.toml:2: log.format cannot be \"xml\"; write \"text\" or \"json\""},
        bad_case{"[listen]\nhtpp = \"\"",
                 "p.toml:2: unknown key 'htpp' in [listen]; did you mean 'http'?"},
        bad_case{"[listen]\nxyz = \"\"",
                 "p.toml:2: unknown key 'xyz' in [listen]; write one of: http, admin"},
        bad_case{"\n[lisen]\nhttp = \"\"",
                 "p.toml:2: unknown section [lisen]; did you mean 'listen'?"},
        bad_case{"[store]\n",
                 "p.toml:1: unknown section [store]; write one of: service, listen, log"},
        bad_case{"id = \"orders\"", "p.toml:1: 'id' stands outside a section; write it below one"},
        bad_case{"listen.htp = \"\"", "p.toml:1: unknown key 'htp' in [listen]; did you mean"},
        bad_case{"[service]\nid = \"a", "p.toml:2: this is not TOML: "},
        bad_case{"[service]\nid = \"a\"\nid = \"b\"", "p.toml:3: this is not TOML: "},
    };
    for (const auto& [text, message] : cases)
        EXPECT_THAT(problem_of(text), StartsWith(std::string(message))) << text;
}

TEST(config, reports_all_problems_in_the_order_of_the_file) {
    const auto problem = problem_of("[service]\nid = 1\n[log]\nlevel = 2\n[lgo]\n[listen]\nx = 1");
    std::array<std::size_t, 4> at{problem.find("p.toml:2: "), problem.find("\np.toml:4: "),
                                  problem.find("\np.toml:5: "), problem.find("\np.toml:7: ")};
    EXPECT_TRUE(std::ranges::is_sorted(at)) << problem;
    EXPECT_NE(at.back(), std::string::npos) << problem;
}

TEST(config, says_that_a_file_is_missing_or_a_folder) {
    for (const std::string& path :
         {std::string("/nonexistent/p.toml"), std::filesystem::temp_directory_path().string()}) {
        const auto loaded = load_config(path);
        ASSERT_FALSE(loaded.has_value());
        EXPECT_EQ(loaded.error().code(), error_code::invalid_configuration);
        EXPECT_THAT(loaded.error().what(), StartsWith(path + ": there is no such file"));
    }
}

TEST(config, lists_every_key_with_its_value_and_where_it_came_from) {
    auto settings = parse_config("[log]\nlevel = \"debug\"", "p.toml").value();
    ASSERT_TRUE(set_config(settings, "listen.http", "127.0.0.1:1", "--listen"));
    const auto entries = list_config(settings);
    ASSERT_EQ(entries.size(), config_keys().size());
    const auto show = [&](std::string_view key) {
        const auto found = std::ranges::find(entries, key, &config_entry::key);
        return found->value + " from " + found->origin;
    };
    EXPECT_EQ(show("service.id"), "posthorn from default");
    EXPECT_EQ(show("log.level"), "debug from p.toml:2");
    EXPECT_EQ(show("listen.http"), "127.0.0.1:1 from --listen");
    for (const auto& entry : entries) {
        EXPECT_FALSE(entry.doc.empty()) << entry.key;
        EXPECT_FALSE(entry.type.empty()) << entry.key;
    }
}

TEST(config, reads_back_every_default_as_it_shows_it) {
    for (const auto& entry : list_config({})) {
        config settings;
        EXPECT_TRUE(set_config(settings, entry.key, entry.value, "here")) << entry.key;
    }
}

TEST(config, leaves_a_value_alone_that_it_cannot_set) {
    config settings;
    EXPECT_FALSE(set_config(settings, "log.level", "loud", "here"));
    EXPECT_EQ(settings.log.level, log_level::info);
    EXPECT_TRUE(settings.origins.empty());
}

// The example documents every key, with its default.
TEST(config, finds_the_defaults_in_the_example_file) {
    const auto example =
        load_config(std::filesystem::path(POSTHORN_SOURCE) / "posthorn.example.toml");
    ASSERT_TRUE(example.has_value()) << example.error().what();
    const auto defaults = list_config({});
    const auto written = list_config(*example);
    for (std::size_t i = 0; i < defaults.size(); ++i) {
        EXPECT_EQ(written[i].value, defaults[i].value) << defaults[i].key;
        EXPECT_NE(written[i].origin, "default") << defaults[i].key << " is missing";
    }
}

}  // namespace
}  // namespace posthorn
