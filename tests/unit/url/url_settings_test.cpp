#include "url/url_settings.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using values = std::map<std::string, feature_value, std::less<>>;

/// The defaults, but for what is given.
feature_settings saying(values given = {}) {
    for (const auto& key : url_keys()) given.emplace(key.name, key.fallback());
    return feature_settings(std::move(given));
}

TEST(url_settings, lead_to_public_servers_over_tls_unless_they_say_more) {
    EXPECT_FALSE(saying().get<bool>("enabled"));
    const auto made = read_url_options(saying());
    ASSERT_TRUE(made) << made.error().what();
    EXPECT_FALSE(made->client.rules.plain_http);
    EXPECT_THAT(made->client.rules.allow, IsEmpty());
    EXPECT_EQ(made->client.limits.whole, std::chrono::seconds(30));
    EXPECT_EQ(made->client.connections_max, 256U);
    EXPECT_EQ(made->authorities, "");
    EXPECT_THAT(made->names.servers, IsEmpty());
    EXPECT_TRUE(made->client.limits.verbatim) << "no signature could be verified";
}

TEST(url_settings, are_read_in_all_their_parts) {
    const auto made =
        read_url_options(saying({{"plain_http", true},
                                 {"allow", std::string("10.0.0.0/8, ::1")},
                                 {"authorities", std::string("ca.pem")},
                                 {"name_servers", std::string("10.0.0.53:53, 10.0.0.54")},
                                 {"timeout", std::chrono::milliseconds(250)},
                                 {"connections_max", std::int64_t{7}}}));
    ASSERT_TRUE(made) << made.error().what();
    EXPECT_TRUE(made->client.rules.plain_http);
    EXPECT_EQ(made->client.rules.allow, parse_networks("10.0.0.0/8,::1").value());
    EXPECT_EQ(made->authorities, "ca.pem");
    EXPECT_THAT(made->names.servers, ElementsAre("10.0.0.53:53", "10.0.0.54"));
    EXPECT_EQ(made->client.limits.whole, std::chrono::milliseconds(250));
    EXPECT_EQ(made->client.connections_max, 7U);
}

TEST(url_settings, that_cannot_be_name_their_key_and_say_what_to_write) {
    const auto said = saying({{"allow", std::string("10.0.0.1/8")},
                              {"timeout", std::chrono::milliseconds(0)},
                              {"connections_max", std::int64_t{0}}});
    const auto found = check_url_settings(said);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].key, "allow");
    EXPECT_THAT(found[0].why.what(), HasSubstr("urls.allow: '10.0.0.1/8' has bits behind"));
    EXPECT_EQ(found[1].key, "timeout");
    EXPECT_THAT(found[1].why.what(), HasSubstr("write one such as \"30s\""));
    EXPECT_EQ(found[2].key, "connections_max");
    EXPECT_THAT(found[2].why.what(), HasSubstr("cannot be 0; write 1 to 65535"));
    EXPECT_FALSE(read_url_options(said));
    EXPECT_THAT(check_url_settings(saying()), IsEmpty());
}

}  // namespace
}  // namespace posthorn
