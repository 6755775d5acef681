// A secret that was put where something else belongs, most of all the name of its place, is quoted
// neither by errors nor by `posthorn config show`, whichever key it stands under.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/config_problems.hpp"
#include "app/config/config_table.hpp"
#include "app/config/core_settings.hpp"
#include "app/config/feature_keys.hpp"
#include "app/features.hpp"

namespace posthorn {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

/// All that is said of a file: its mistakes, also those that features find, and the list of its keys.
std::vector<std::string> said_of(const std::string& text) {
    const auto read = parse_config(text, "p.toml");
    if (!read) return {read.error().what()};
    config_problems found;
    for (const auto* const each : all_features())
        for (const auto& [key, why] :
             each->problems(settings_of(*read, *each), message_limits_of(*read)))
            found.add(read->origin_of(fmt::format("{}.{}", each->name(), key)), why.what());
    auto all = found.texts();
    for (const auto& each : list_config(*read)) {
        all.push_back(each.key);
        all.push_back(each.value);
        all.push_back(each.note);
    }
    return all;
}

std::string file_with(std::string_view key, std::string_view value) {
    const auto dot = key.find('.');
    return fmt::format("[{}]\n\"{}\" = {}\n", key.substr(0, dot), key.substr(dot + 1), value);
}

/// What tells by its form that it is a secret, or holds one.
constexpr std::array<std::string_view, 10> known_forms{
    R"("base64:Canary/9f+x==")",
    R"("whsec_Canary9f")",
    R"("whsk_Canary9f")",
    R"("phk_Canary9f")",
    R"("pht_Canary9f")",
    R"("env:Canary/9f+x==")",
    R"("postgres://u:Canary@h/d")",
    R"("postgres://h/d?password=Canary")",
    R"("Host=h;Password=Canary;Port=1")",
    R"("-----BEGIN PRIVATE KEY-----\nCanary\n-----END PRIVATE KEY-----")"};

/// What is a secret only because of where it stands.
constexpr std::array<std::string_view, 4> bare_forms{R"("Canary")", R"("correct horse Canary")",
                                                     R"(["Canary"])", R"({ a = "Canary" })"};

std::vector<std::string_view> names_of_all() {
    const auto keys = config_keys();
    std::vector<std::string_view> all(keys.begin(), keys.end());
    for (const auto* const of :
         {"routes.x", "routes.default", "secrets.x", "signatures.x", "handlers.x", "responses.x",
          "InboxOutbox.BatchSize", "StoreAndForward.SqliteDbPath",
          "OperationTracking.ConnectionString"})
        all.emplace_back(of);
    return all;
}

TEST(config_raw_secrets, are_shown_under_no_key_if_their_form_tells_what_they_are) {
    for (const auto key : names_of_all())
        for (const auto value : known_forms)
            EXPECT_THAT(said_of(file_with(key, value)), Each(Not(HasSubstr("anary"))))
                << key << " = " << value;
}

TEST(config_raw_secrets, are_shown_under_no_key_that_wants_a_place_or_a_hash) {
    int keys = 0;
    for (const auto& row : key_table()) {
        const bool wants_secret = row.refers || row.type == "hash";
        // By the words of its documentation, which name the places.
        if (row.type == "string")
            EXPECT_EQ(row.refers, row.doc.contains("env:") || row.doc.contains("file:")) << row.key;
        if (!wants_secret) continue;
        ++keys;
        for (const auto value : bare_forms)
            EXPECT_THAT(said_of(file_with(row.key, value)), Each(Not(HasSubstr("anary"))))
                << row.key << " = " << value;
    }
    EXPECT_GE(keys, 4);
    for (const auto value : bare_forms)
        EXPECT_THAT(said_of(file_with("secrets.x", value)), Each(Not(HasSubstr("anary")))) << value;
}

TEST(config_raw_secrets, are_shown_in_no_field_of_a_table_where_one_may_be_meant) {
    std::vector<std::string_view> keys;
    for (const auto& row : key_table())
        if (row.type.contains("list")) keys.push_back(row.key);
    EXPECT_GE(keys.size(), 5U);
    for (const auto* of : {"secrets.x", "routes.x", "handlers.x"}) keys.emplace_back(of);
    for (const auto key : keys)
        for (const auto* field : {"key", "secret", "password", "pasword", "hash", "token",
                                  "database", "from", "until", "made"})
            for (const auto* shape : {"[{{ {} = {} }}]", "{{ {} = {} }}",
                                      "[{{ name = \"a\", url = \"https://a.example/\", to = "
                                      "\"https://a.example/\", {} = {} }}]"})
                for (const auto value : bare_forms)
                    EXPECT_THAT(
                        said_of(file_with(key, fmt::format(fmt::runtime(shape), field, value))),
                        Each(Not(HasSubstr("anary"))))
                        << key << " " << field << " " << shape << " " << value;
}

TEST(config_raw_secrets, are_shown_in_no_route_to_a_broker_and_no_source_of_one) {
    const auto hidden = [](std::string_view key, const std::string& value) {
        EXPECT_THAT(said_of(file_with(key, value)), Each(Not(HasSubstr("anary"))))
            << key << " = " << value;
    };
    for (const auto* url : {"amqp://h", "nats://h"}) {
        for (const auto* form : {"Canary", "env:correct horse Canary", "base64:Q2anary="}) {
            hidden("routes.x", fmt::format(R"({{ url = "{}", password = "{}" }})", url, form));
            hidden("consume.sources",
                   fmt::format(R"([{{ name = "a", url = "{}", queue = "q", stream = "s", )"
                               R"(password = "{}" }}])",
                               url, form));
        }
        const std::string with_password = fmt::format("{}://u:Canary@h", std::string(url, 4));
        hidden("routes.x", fmt::format(R"("{}")", with_password));
        hidden("routes.x", fmt::format(R"({{ url = "{}" }})", with_password));
        hidden("consume.sources",
               fmt::format(R"([{{ name = "a", url = "{}", queue = "q", stream = "s" }}])",
                           with_password));
    }
    for (const auto value : known_forms)
        for (const auto* option : {"exchange", "key"})
            hidden("routes.x", fmt::format(R"({{ url = "amqp://h", {} = {} }})", option, value));
    for (const auto* text : {R"("kafka://u:Canary@h/t")", R"("kafka://u@h,u:Canary@h/t")",
                             R"("amqp://h, amqp://u:Canary@h")", R"("kafka://u:Can,anary@h/t")",
                             R"({ url = "kafka://u@h/t", password = "Canary" })"})
        hidden("routes.x", text);
    hidden("routes.x", R"({ url = "amqp://h", key = "{Canary}" })");
    hidden("routes.x", R"({ url = "nats://h", subject = "{Canary" })");
}

TEST(config_raw_secrets, are_not_shown_by_what_is_said_of_a_file_that_is_not_toml) {
    for (const auto* text :
         {"[secrets]\nx = Canary", "[secrets]\nx = \"Canary", "[secrets]\nx = \"base64:Canary\" 7",
          "[secrets]\nCanary", "[webhooks]\nkey = 'Canary", "[secrets\nx = \"Canary\""})
        EXPECT_THAT(said_of(text), Each(Not(HasSubstr("anary")))) << text;
}

TEST(config_raw_secrets, do_not_hide_the_places_of_those_that_lie_where_they_should) {
    const auto shown = [](std::string_view key, std::string_view value) {
        const auto settings = parse_config(file_with(key, fmt::format("\"{}\"", value)), "p.toml");
        const auto entries = list_config(settings.value());
        return std::ranges::find(entries, key, &config_entry::key)->value;
    };
    EXPECT_THAT(shown("webhooks.key", "env:WEBHOOKS_KEY"), HasSubstr("env:WEBHOOKS_KEY"));
    EXPECT_THAT(shown("webhooks.key_before", "file:/etc/key"), HasSubstr("file:/etc/key"));
    EXPECT_THAT(shown("webhooks.tenant_secrets", "none"), HasSubstr("none"));
    EXPECT_THAT(shown("webhooks.key", "correct horse"), HasSubstr("(hidden)"));
}

}  // namespace
}  // namespace posthorn
