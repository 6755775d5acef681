#include "store/rules/cause.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

struct example {
    std::string_view error;
    std::string_view cause;
};

// In one line each, the texts that differ between messages of one cause.
constexpr example table[] = {
    {"", "no reason given"},
    {" \t\n", "no reason given"},
    {"no answer", "no answer"},
    {"  no \t answer\r\n", "no answer"},
    {"after 5 tries", "after <n> tries"},
    {"took 1500ms", "took <n>ms"},
    {"took 1.5 s, or 1,500 ms", "took <n> s, or <n> ms"},
    {"item42 is out", "item<n> is out"},
    {"order-17 of o1", "order-<n> of o<n>"},
    {"-3 pieces", "-<n> pieces"},
    {"400 from billing", "400 from billing"},
    {"answered with status 503 and no reason", "answered with status 503 and no reason"},
    {"HTTP 404", "HTTP 404"},
    {"answered 500: 500 rows", "answered 500: <n> rows"},
    {"status 700", "status <n>"},
    {"status 5031", "status <n>"},
    {"no order 0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001", "no order <id>"},
    {"no order 0199F3A0-5B7C-7D11-8A4E-3F1F7A7E0001.", "no order <id>."},
    {"no order 0199f3a05b7c7d118a4e3f1f7a7e0001", "no order <hex>"},
    {"token aZ81kQm30xPq77Lw is over", "token <id> is over"},
    {"unconstitutionally", "unconstitutionally"},
    {"at 0x7ffe12 and 0XAB", "at <hex> and <hex>"},
    {"commit deadbeef12", "commit <hex>"},
    {"decade facade", "decade facade"},
    {"no route to 'billing'; add it", "no route to <text>; add it"},
    {R"(column "total" is "12")", "column <text> is <text>"},
    {"no `x` here", "no <text> here"},
    {"the receiver's clock isn't right", "the receiver's clock isn't right"},
    {"it's 'Tom's' turn", "it's <text> turn"},
    {"an open ' quote 7", "an open ' quote <n>"},
    {"at 2026-02-14T12:00:00Z", "at <time>"},
    {"at 2026-02-14 12:00:00.123+01:00, late", "at <time>, late"},
    {"on 2026-02-14", "on <time>"},
    {"at 12:30:05.5 it", "at <time> it"},
    {"at 12:30", "at <time>"},
    {"2026-02 is short", "<n>-<n> is short"},
    {"connect to 10.0.0.7:7410 refused", "connect to <address> refused"},
    {"connect to 10.0.0.7 refused", "connect to <address> refused"},
    {"version 1.2.3.4.5", "version <n>"},
    {"connect to [::1]:7410: refused", "connect to <address>: refused"},
    {"connect to fe80::1 refused", "connect to <address> refused"},
    {"connect to localhost:7410", "connect to <address>"},
    {"connect to stock.example.org:443: timed out", "connect to <address>: timed out"},
    {"line:12 std::string", "line:<n> std::string"},
    {"from https://stock.example.org/a?b=1, again", "from <address>, again"},
    {"see http://127.0.0.1:7410/_rf/receive.", "see <address>."},
    {"write to ops@example.org", "write to <address>"},
    {"cannot open /var/lib/orders-3/x.db: full", "cannot open <path>: full"},
    {"and/or a / b", "and/or a / b"},
    {"invalid_argument: message_id 'x1' is not a UUID",
     "invalid_argument: message_id <text> is not a UUID"},
    {"Größe 7 für Zoë", "Größe <n> für Zoë"},
};

TEST(cause, keeps_of_an_error_what_messages_share) {
    for (const auto& [error, cause] : table) EXPECT_EQ(normalise_cause(error), cause) << error;
}

TEST(cause, is_its_own_cause) {
    for (const auto& each : table) EXPECT_EQ(normalise_cause(each.cause), each.cause);
}

TEST(cause, has_two_hundred_characters_at_most_and_is_utf8) {
    std::string umlauts;
    for (int i = 0; i < 5'000; ++i) umlauts += "ü";
    for (const auto& error :
         {umlauts, std::string(100'000, 'x'), std::string(100'000, '\''), "\xff\xfe" + umlauts}) {
        const auto cause = normalise_cause(error);
        EXPECT_TRUE(is_utf8(cause));
        EXPECT_LE(clean_utf8(cause, 1000).size(), 3 * cause_characters_max);
        EXPECT_EQ(clean_utf8(cause, cause_characters_max), cause);
    }
}

TEST(cause, reads_every_beginning_of_every_example) {
    for (const auto& each : table)
        for (std::size_t size = 0; size <= each.error.size(); ++size) {
            const std::string exact(
                each.error.substr(0, size));  // A read past it shows under ASan.
            EXPECT_FALSE(normalise_cause(exact).empty());
        }
}

}  // namespace
}  // namespace posthorn
