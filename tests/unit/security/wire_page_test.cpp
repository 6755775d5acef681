// Holds the worked example of docs/reference/wire.md against the code.
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "security/rf_hmac.hpp"
#include "security/signature.hpp"
#include "security/x_workflow.hpp"

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

TEST(wire_page, its_vectors_of_the_older_signatures_are_what_the_code_signs) {
    page example;
    const auto value = secret::parse(example.next("Secret (base64): `", "`"));
    ASSERT_TRUE(value);
    const auto body = example.next("```\n", "\n```");
    const auto now = *parse_iso8601("2026-02-14T12:00:00.250Z");

    const key_ring inside({make_key(*value)}, signature_scheme::rf_hmac);
    const auto payload = example.next("its message, payload `", "`");
    EXPECT_NE(body.find(R"("payload":)" + payload), std::string::npos);
    const auto made = sign_rf_hmac(inside,
                                   {.message_id = "0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001",
                                    .source = "orders",
                                    .endpoint = "OrderApproved",
                                    .payload = payload},
                                   now);
    ASSERT_TRUE(made);
    EXPECT_EQ(*made, example.next("`\"rf-hmac\":\"", "\"`"));

    const key_ring beside({make_key(*value)}, signature_scheme::x_workflow);
    const auto header = sign_x_workflow(beside, body, now);
    ASSERT_TRUE(header);
    EXPECT_EQ(*header, example.next("X-Workflow-Signature: t=", "\n").insert(0, "t="));
}

}  // namespace
}  // namespace posthorn
