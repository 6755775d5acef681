#include "security/signature.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/text/base64.hpp"
#include "security/hex.hpp"
#include "security/hmac.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

const wall_time now = *parse_iso8601("2026-02-14T12:00:00Z");
constexpr signed_pair there{.source = "orders", .destination = "stock"};
constexpr signed_pair back{.source = "stock", .destination = "orders"};

signing_key key_of(char first) {
    std::string bytes(32, first);
    return make_key(secret(std::as_bytes(std::span(bytes))));
}

const key_ring& ring() {
    static const key_ring made({key_of('k')});
    return made;
}

/// A request as it stands on the wire, to be tampered with.
struct sent {
    signed_pair expected = there;
    signature_headers headers{};
    std::string path = "/_rf/receive";
    std::string content_type = "application/json";
    std::string body = R"({"payload":1})";
    std::string request_hmac{};
    std::uint16_t status = 0;
    wall_time read_at = now;
    key_ring keys = ring();

    [[nodiscard]] signed_content content() const {
        return {.path = path,
                .content_type = content_type,
                .body = body,
                .request_hmac = request_hmac,
                .status = status};
    }
    [[nodiscard]] result<> check() const {
        return verify(keys, expected, headers, content(), read_at);
    }
};

sent request() {
    sent made;
    made.headers = *sign(ring(), there, made.content(), now);
    return made;
}

sent answer() {
    sent made;
    made.expected = back;
    made.request_hmac = request().headers.hmac;
    made.status = 200;
    made.headers = *sign(ring(), back, made.content(), now);
    return made;
}

struct tampering {
    std::string_view name;
    std::function<void(sent&)> with;
};

void expect_refused(const sent& untouched, const std::vector<tampering>& ways) {
    ASSERT_TRUE(untouched.check());
    for (const auto& way : ways) {
        auto changed = untouched;
        way.with(changed);
        const auto checked = changed.check();
        ASSERT_FALSE(checked) << way.name;
        EXPECT_EQ(checked.error().code(), error_code::bad_signature) << way.name;
    }
}

TEST(signature, a_request_that_was_tampered_with_is_refused) {
    expect_refused(
        request(),
        {{"body altered", [](sent& it) { it.body.back() = ']'; }},
         {"body cut", [](sent& it) { it.body.pop_back(); }},
         {"path altered", [](sent& it) { it.path = "/_rf/receive-batch"; }},
         {"content type altered", [](sent& it) { it.content_type = "text/plain"; }},
         {"content type left out", [](sent& it) { it.content_type.clear(); }},
         {"byte moved from source to destination",
          [](sent& it) {
              it.headers.source = "order";
              it.headers.destination = "sstock";
              it.expected = {.source = "order", .destination = "sstock"};
          }},
         {"byte moved from path to time",
          [](sent& it) {
              it.path = "/_rf/receiv";
              it.headers.timestamp = "e" + it.headers.timestamp;
          }},
         {"byte moved from content type to body",
          [](sent& it) {
              it.content_type = "application/jso";
              it.body = "n" + it.body;
          }},
         {"another source", [](sent& it) { it.headers.source = it.headers.destination; }},
         {"for another service", [](sent& it) { it.expected.destination = "billing"; }},
         {"readdressed",
          [](sent& it) {
              it.headers.destination = "billing";
              it.expected.destination = "billing";
          }},
         {"another time", [](sent& it) { it.headers.timestamp = to_iso8601(now + 1ms); }},
         {"time in another form", [](sent& it) { it.headers.timestamp = "2026-02-14T12:00:00Z"; }},
         {"time with an offset",
          [](sent& it) { it.headers.timestamp = "2026-02-14T12:00:00.000+00:00"; }},
         {"no time", [](sent& it) { it.headers.timestamp.clear(); }},
         {"another scheme", [](sent& it) { it.headers.scheme = "v1"; }},
         {"no scheme", [](sent& it) { it.headers.scheme.clear(); }},
         {"unsigned", [](sent& it) { it.headers = {}; }},
         {"no signature", [](sent& it) { it.headers.hmac.clear(); }},
         {"signature cut", [](sent& it) { it.headers.hmac.resize(40); }},
         {"signature of zeros", [](sent& it) { it.headers.hmac = std::string(43, 'A') + '='; }},
         {"signature in no base64", [](sent& it) { it.headers.hmac[5] = '!'; }},
         {"unknown key", [](sent& it) { it.headers.key = "0123456789abcdef"; }},
         {"no key", [](sent& it) { it.headers.key.clear(); }},
         {"key that the ring lacks", [](sent& it) { it.keys = key_ring({key_of('x')}); }},
         {"empty ring", [](sent& it) { it.keys = key_ring(); }},
         {"taken for an answer", [](sent& it) {
              it.status = 200;
              it.request_hmac = it.headers.hmac;
          }}});
}

TEST(signature, an_answer_that_was_tampered_with_is_refused) {
    expect_refused(
        answer(),
        {{"status altered", [](sent& it) { it.status = 404; }},
         {"to another request", [](sent& it) { it.request_hmac = std::string(43, 'A') + '='; }},
         {"body altered", [](sent& it) { it.body = "{}"; }},
         {"byte moved from signature to status",
          [](sent& it) {
              it.request_hmac += '2';
              it.status = 0;
          }},
         {"from another service", [](sent& it) { it.expected.source = "billing"; }},
         {"sent back as a request", [](sent& it) {
              it.status = 0;
              it.request_hmac.clear();
          }}});
}

TEST(signature, a_request_sent_back_to_its_sender_is_refused) {
    auto reflected = request();
    reflected.expected = {.source = "orders", .destination = "orders"};
    EXPECT_FALSE(reflected.check());
    reflected.expected = back;
    EXPECT_FALSE(reflected.check());
}

TEST(signature, time_may_be_five_minutes_off_and_no_more) {
    const auto sent_then = request();
    for (const auto off : {0ms, 299'999ms, 300'000ms}) {
        auto late = sent_then;
        late.read_at = now + off;
        EXPECT_TRUE(late.check()) << off.count();
        late.read_at = now - off;
        EXPECT_TRUE(late.check()) << off.count();
    }
    for (const auto off : {300'001ms, 301'000ms, 86'400'000ms}) {
        auto late = sent_then;
        late.read_at = now + off;
        EXPECT_FALSE(late.check()) << off.count();
        late.read_at = now - off;
        EXPECT_FALSE(late.check()) << off.count();
    }
}

TEST(signature, a_time_that_is_not_written_in_utc_is_refused_however_well_it_is_signed) {
    const auto signed_at = [](std::string_view time) {
        auto it = request();
        it.headers.timestamp = time;
        const auto text = fmt::format(
            "posthorn-v2\n16:{},7:request,6:orders,5:stock,12:/_rf/receive,{}:{},"
            "16:application/json,64:{},",
            it.headers.key, time.size(), time, to_hex(sha256_of({it.body})));
        it.headers.hmac = encode_base64(hmac_of(key_of('k').value, text));
        return it;
    };
    EXPECT_TRUE(signed_at("2026-02-14T12:00:00Z").check());
    for (const std::string_view bad :
         {"2026-02-14T12:00:00+00:00", "2026-02-14T13:00:00+01:00", "2026-02-14 12:00:00Z",
          "2026-02-14T12:00:00", "1771070400", " 2026-02-14T12:00:00Z", "now"})
        EXPECT_FALSE(signed_at(bad).check()) << bad;
}

TEST(signature, keys_count_as_their_ring_says) {
    auto key = key_of('k');
    auto it = request();
    key.signs_from = now + 1h;
    it.keys = key_ring({key});
    EXPECT_TRUE(it.check()) << "a key verifies before it signs";
    EXPECT_EQ(sign(it.keys, there, it.content(), now).error().code(),
              error_code::secret_unavailable);
    key = key_of('k');
    key.verifies_until = now + 1ms;
    it.keys = key_ring({key_of('x'), key});
    EXPECT_TRUE(it.check()) << "a retired key verifies until its date";
    key.verifies_until = now;
    it.keys = key_ring({key_of('x'), key});
    EXPECT_FALSE(it.check());
    key = key_of('k');
    key.revoked = true;
    it.keys = key_ring({key_of('x'), key});
    EXPECT_FALSE(it.check()) << "a revoked key counts no more";
}

TEST(signature, errors_quote_neither_secret_nor_signature) {
    auto it = request();
    it.body += ' ';
    const std::string text = it.check().error().what();
    EXPECT_EQ(text.find(it.headers.hmac), std::string::npos);
    EXPECT_EQ(text.find("kkkk"), std::string::npos);
}

TEST(signature, service_ids_are_visible_ascii) {
    const std::string wide(256, 'a');
    for (const auto& id : {std::string(), std::string("a b"), std::string("a\n"),
                           std::string("caf\xc3\xa9"), wide}) {
        auto it = request();
        it.expected = {.source = id, .destination = "stock"};
        it.headers = *sign(ring(), it.expected, it.content(), now);
        EXPECT_FALSE(it.check()) << id;
    }
}

}  // namespace
}  // namespace posthorn
