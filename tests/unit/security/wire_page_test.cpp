// Holds the worked example of docs/reference/wire.md against the code.
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "security/signature.hpp"

namespace posthorn {
namespace {

class page {
public:
    page() {
        std::ifstream file(POSTHORN_SOURCE "/docs/reference/wire.md");
        text_.assign(std::istreambuf_iterator<char>(file), {});
        at_ = text_.find("## A worked example");
    }
    /// What stands between the two after the last thing found.
    std::string next(std::string_view before, std::string_view after) {
        const auto from = text_.find(before, at_);
        if (from == std::string::npos) return "not on the page";
        const auto start = from + before.size();
        const auto end = text_.find(after, start);
        at_ = end;
        return text_.substr(start, end - start);
    }

private:
    std::string text_;
    std::size_t at_ = 0;
};

TEST(wire_page, its_worked_example_is_what_the_code_signs) {
    page example;
    const auto value = secret::parse(example.next("Secret (base64): `", "`"));
    ASSERT_TRUE(value);
    const key_ring keys({make_key(*value)});
    EXPECT_EQ(keys.keys().front().id, example.next("key id: `", "`"));

    const auto body = example.next("```\n", "\n```");
    const signed_content request{
        .path = "/_rf/receive", .content_type = "application/json", .body = body};
    const auto signed_then = sign(keys, {.source = "orders", .destination = "stock"}, request,
                                  *parse_iso8601("2026-02-14T12:00:00.000Z"));
    ASSERT_TRUE(signed_then);
    EXPECT_EQ(signed_then->hmac, example.next("`rf-hmac: ", "`"));

    const auto answer_body = example.next("The answer `", "`");
    const signed_content answer{.path = "/_rf/receive",
                                .content_type = "application/json",
                                .body = answer_body,
                                .request_hmac = signed_then->hmac,
                                .status = 200};
    const auto answered = sign(keys, {.source = "stock", .destination = "orders"}, answer,
                               *parse_iso8601("2026-02-14T12:00:00.250Z"));
    ASSERT_TRUE(answered);
    EXPECT_EQ(answered->hmac, example.next("`rf-hmac: ", "`"));
}

}  // namespace
}  // namespace posthorn
