#include "message/wire/envelope.hpp"

#include <random>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

const wall_time now = *parse_iso8601("2026-02-14T12:00:00Z");
const uuid some_id = *uuid::parse("0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001");

envelope_rules rules() { return {.destination = "stock", .now = now}; }

std::string written(const message& what) {
    std::string out;
    append_envelope(out, what);
    return out;
}

message order() {
    message made;
    made.id = some_id;
    made.source = "orders";
    made.destination = "stock";
    made.endpoint = "OrderApproved";
    made.payload = R"({"orderId": "o1"})";
    made.created_at = now - 1h;
    made.expires_at = now + 23h;
    return made;
}

void expect_carried(const message& sent) {
    const auto text = written(sent);
    const auto read = read_envelope(text, rules());
    ASSERT_TRUE(read) << read.error().what() << "\n" << text;
    EXPECT_EQ(read->id, sent.id);
    EXPECT_EQ(read->type, sent.type);
    EXPECT_EQ(read->source, sent.source);
    EXPECT_EQ(read->destination, "stock");
    EXPECT_EQ(read->endpoint, sent.endpoint);
    EXPECT_EQ(read->payload, sent.payload);
    EXPECT_EQ(read->content_type, sent.content_type);
    EXPECT_EQ(read->correlation_id, sent.correlation_id);
    EXPECT_EQ(read->tenant, sent.tenant);
    EXPECT_EQ(read->order_key, sent.order_key);
    EXPECT_EQ(read->parent_id, sent.parent_id);
    EXPECT_EQ(read->causation_id, sent.causation_id);
    EXPECT_EQ(read->created_at, sent.created_at);
    EXPECT_EQ(read->expires_at, sent.expires_at);
    EXPECT_EQ(written(*read), text);
}

/// The smallest message with one field in place of its own.
std::string with(std::string_view name, std::string_view value) {
    std::string text = "{";
    const std::pair<std::string_view, std::string_view> fields[] = {
        {"messageId", R"("0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001")"},
        {"sourceServiceId", R"("orders")"},
        {"messageType", R"("Signal")"},
        {"endpoint", R"("OrderApproved")"},
        {"payload", "1"},
        {"headers", "{}"}};
    for (const auto& [own, usual] : fields) {
        const auto shown = own == name ? value : usual;
        if (shown.empty()) continue;  // Left out.
        if (text.size() > 1) text += ',';
        text += fmt::format("\"{}\":{}", own, shown);
    }
    return text + "}";
}

TEST(envelope, is_written_as_the_page_shows_it) {
    auto what = order();
    what.correlation_id = "order-17";
    EXPECT_EQ(written(what),
              R"({"messageId":"0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001","correlationId":"order-17",)"
              R"("sourceServiceId":"orders","messageType":"Signal","endpoint":"OrderApproved",)"
              R"("payload":{"orderId": "o1"},"headers":{"rf-version":"2.0",)"
              R"("rf-timestamp":"2026-02-14T11:00:00.000Z",)"
              R"("rf-expires-at":"2026-02-15T11:00:00.000Z"}})");
}

TEST(envelope, carries_every_field) {
    auto what = order();
    what.type = message_type::command;
    what.correlation_id = "caf\xc3\xa9 \"17\"";
    what.tenant = "t\\1";
    what.order_key = "o";
    what.parent_id = uuid::parse("0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0002");
    what.causation_id = uuid::parse("0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0003");
    what.headers = R"({"a":{"b":[1,2]},"traceparent":"00-01"})";
    expect_carried(what);
    EXPECT_EQ(read_envelope(written(what), rules())->headers, what.headers);
}

TEST(envelope, keeps_a_payload_to_the_byte) {
    for (const std::string_view payload : {"null", "17", "-0.10e+05", "\"\\u0041\\/\"", "[ 1 , 2 ]",
                                           "{ \"b\" : 1,\"a\":{} }", "true", "{\"a\":1,\"a\":2}"}) {
        auto what = order();
        what.payload = payload;
        expect_carried(what);
    }
}

TEST(envelope, carries_payloads_that_are_not_json) {
    for (const std::string_view payload :
         {std::string_view(""), std::string_view("plain \"text\"\n"), std::string_view("\0x", 2),
          std::string_view("\xff\x00\xfe", 3), std::string_view("{\"a\":1}")}) {
        auto what = order();
        what.content_type = "text/plain";
        what.payload = payload;
        expect_carried(what);
    }
    auto what = order();
    what.content_type = "application/octet-stream";
    what.payload = "\xff";
    EXPECT_NE(written(what).find(R"("payload":"/w==")"), std::string::npos);
    EXPECT_NE(written(what).find(R"("rf-encoding":"base64")"), std::string::npos);
}

TEST(envelope, json_with_parameters_stays_json) {
    auto what = order();
    what.content_type = "application/json; charset=utf-8";
    expect_carried(what);
    EXPECT_NE(written(what).find(R"("payload":{)"), std::string::npos);
}

TEST(envelope, an_empty_json_payload_is_null) {
    auto what = order();
    what.payload.clear();
    EXPECT_EQ(read_envelope(written(what), rules())->payload, "null");
}

TEST(envelope, an_application_cannot_set_headers_of_ours) {
    auto what = order();
    what.headers = R"({"rf-tenant":"other","a":1,"r\u0066-order-key":"x","b":"rf-"})";
    const auto read = read_envelope(written(what), rules());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->tenant, "");
    EXPECT_EQ(read->order_key, "");
    EXPECT_EQ(read->headers, R"({"a":1,"b":"rf-"})");
    what.headers = R"({"r\u0066-tenant":"other","a":1})";
    EXPECT_EQ(read_envelope(written(what), rules())->tenant, "");
    EXPECT_EQ(read_envelope(written(what), rules())->headers, R"({"a":1})");
    for (const std::string_view blank : {"{}", " { } ", "{\n}"}) {
        what.headers = blank;
        EXPECT_EQ(read_envelope(written(what), rules())->headers, "") << blank;
    }
}

TEST(envelope, is_read_in_any_order_and_with_any_white_space) {
    const auto read = read_envelope(
        " { \"Headers\" : { \"x\" : [ 1 ] , \"rf-timestamp\":\"2026-02-14T10:00:00Z\" } ,\n"
        "\"Unknown\":{\"deep\":[]}, \"Payload\" : { \"a\" : 1 } \n , \"Endpoint\":\"E\","
        "\"MessageType\":\"PushCall\",\"SourceServiceId\":\"s\",\"CorrelationId\":null,"
        "\"MessageId\":\"0199F3A05B7C7D118A4E3F1F7A7E0001\" } ",
        rules());
    ASSERT_TRUE(read) << read.error().what();
    EXPECT_EQ(read->id, some_id);
    EXPECT_EQ(read->type, message_type::push_call);
    EXPECT_EQ(read->payload, R"({ "a" : 1 })");
    EXPECT_EQ(read->headers, R"({"x":[ 1 ]})");
    EXPECT_EQ(read->created_at, now - 2h);
    EXPECT_EQ(read->expires_at, now + 22h);
}

TEST(envelope, without_times_it_is_of_now_and_lives_a_day) {
    const auto read = read_envelope(with("payload", ""), rules());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->payload, "null");
    EXPECT_EQ(read->created_at, now);
    EXPECT_EQ(read->expires_at, now + 24h);
    EXPECT_TRUE(read_envelope(with("headers", "null"), rules()));
    EXPECT_EQ(
        read_envelope(with("headers", R"({"rf-expires-at":"2026-02-14T12:00:01.5Z"})"), rules())
            ->expires_at,
        now + 1500ms);
}

struct bad_case {
    std::string_view name;
    std::string_view value;
    std::string_view error_begins;
};

TEST(envelope, names_the_field_that_is_wrong_and_quotes_nothing) {
    const bad_case cases[] = {
        {"messageId", "", "messageId is missing"},
        {"messageId", "17", "messageId is a number"},
        {"messageId", R"("SECRET")", "messageId is not a UUID"},
        {"messageId", R"("00000000-0000-0000-0000-000000000000")", "the nil id"},
        {"sourceServiceId", "", "sourceServiceId is missing"},
        {"sourceServiceId", R"("")", "a message needs its source"},
        {"sourceServiceId", R"("a\nb")", "the source holds a control character"},
        {"messageType", R"("SECRET")", "messageType is none of"},
        {"messageType", "null", "messageType is null"},
        {"endpoint", "", "endpoint is missing"},
        {"endpoint", R"({"SECRET":1})", "endpoint is an object"},
        {"endpoint", R"("\ud800")", "endpoint holds a wrong escape"},
        {"payload", "[SECRET]", "payload is not JSON"},
        {"payload", "[1,]", "payload is not JSON"},
        {"payload", "01", "payload is not JSON"},
        {"payload", "1,\"Payload\":2", "Payload is there twice"},
        {"payload", "1,\"endpoint\":\"b\",\"endpoint\":\"c\"", "endpoint is there twice"},
        {"payload", "1,\"other\":[SECRET]", "other is not JSON"},
        {"headers", "[]", "headers is an array"},
        {"headers", R"({"a":1,"b":2,"a":3})", "headers holds a name twice"},
        {"headers", R"({"rf-tenant":"a","rf-tenant":"b"})", "headers holds a name twice"},
        {"headers", R"({"rf-version":"3.0"})", "headers.rf-version is another major"},
        {"headers", R"({"rf-version":"20"})", "headers.rf-version is another major"},
        {"headers", R"({"rf-version":2})", "headers.rf-version is a number"},
        {"headers", R"({"rf-timestamp":"SECRET"})", "headers.rf-timestamp is not a time"},
        {"headers", R"({"rf-expires-at":"2026-02-30T00:00:00Z"})", "headers.rf-expires-at is not"},
        {"headers", R"({"rf-causation-id":"x"})", "headers.rf-causation-id is not a UUID"},
        {"headers", R"({"rf-content-type":"text/plain"})", "payload is not text"},
        {"headers", R"({"rf-content-type":"text/plain\n"})", "payload is not text"},
        {"headers", R"({"rf-encoding":"base64"})", "payload is JSON"},
        {"headers", R"({"rf-encoding":"gzip"})", "headers.rf-encoding is not base64"},
    };
    for (const auto& one : cases) {
        const auto read = read_envelope(with(one.name, one.value), rules());
        ASSERT_FALSE(read) << one.name << " " << one.value;
        const std::string text = read.error().what();
        EXPECT_TRUE(text.starts_with(one.error_begins)) << text;
        EXPECT_EQ(text.find("SECRET"), std::string::npos) << text;
        EXPECT_TRUE(read.error().code() == error_code::malformed_request ||
                    read.error().code() == error_code::invalid_argument);
    }
}

TEST(envelope, a_payload_that_is_text_must_be_what_its_headers_say) {
    const auto body = with("headers", R"({"rf-content-type":"a/b","rf-encoding":"base64"})");
    const auto at = body.find("\"payload\":1");
    for (const std::string_view bad : {"\"a\"", "\"YQ\"", "\"YQ==\\n\"", "17", "{}"}) {
        auto text = body;
        text.replace(at, 11, fmt::format("\"payload\":{}", bad));
        EXPECT_FALSE(read_envelope(text, rules())) << bad;
    }
    auto text = body;
    text.replace(at, 11, "\"payload\":\"YQ==\"");
    EXPECT_EQ(read_envelope(text, rules())->payload, "a");
}

TEST(envelope, refuses_what_is_no_json_object) {
    for (const std::string_view bad : {"", " ", "null", "[]", "{", "}", "{\"messageId\"", "\xff",
                                       "{\"a\":\"\xff\"}", "{} {}", "{,}", "\xef\xbb\xbf{}"}) {
        const auto read = read_envelope(bad, rules());
        ASSERT_FALSE(read) << bad;
        EXPECT_EQ(read.error().code(), error_code::malformed_request);
    }
    const auto whole = with("payload", "{}");
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(read_envelope(whole.substr(0, size), rules())) << size;
    EXPECT_FALSE(read_envelope(whole + "}", rules()));
    EXPECT_FALSE(read_envelope(whole + whole, rules()));
}

TEST(envelope, nests_sixty_four_deep_and_no_deeper) {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    EXPECT_TRUE(read_envelope(with("payload", nested(64)), rules()));
    const auto deep = read_envelope(with("payload", nested(65)), rules());
    ASSERT_FALSE(deep);
    EXPECT_EQ(deep.error().code(), error_code::malformed_request);
    EXPECT_STREQ(deep.error().what(), "payload is nested deeper than 64 levels (limits.depth)");
    EXPECT_FALSE(read_envelope(with("payload", nested(100'000)), rules()));
    EXPECT_FALSE(read_envelope(with("payload", std::string(100'000, '[')), rules()));
    EXPECT_FALSE(read_envelope(with("headers", "{\"a\":" + nested(65) + "}"), rules()));
}

TEST(envelope, nests_no_deeper_than_it_may) {
    auto limited = rules();
    limited.limits.depth_max = 2;
    EXPECT_TRUE(read_envelope(with("payload", "[[]]"), limited));
    EXPECT_EQ(read_envelope(with("payload", "[[[]]]"), limited).error().code(),
              error_code::invalid_payload);
    EXPECT_TRUE(read_envelope(with("headers", R"({"a":[]})"), limited));
    EXPECT_FALSE(read_envelope(with("headers", R"({"a":[[]]})"), limited));
}

TEST(envelope, refuses_what_is_past_a_limit) {
    auto limited = rules();
    limited.limits.payload_size_max = 10;
    EXPECT_TRUE(read_envelope(with("payload", "\"12345678\""), limited));
    EXPECT_EQ(read_envelope(with("payload", "\"123456789\""), limited).error().code(),
              error_code::message_too_large);
    const auto wide = fmt::format("\"{}\"", std::string(256, 'e'));
    EXPECT_EQ(read_envelope(with("endpoint", wide), rules()).error().code(),
              error_code::invalid_argument);
}

TEST(envelope, carries_random_messages) {
    std::mt19937_64 dice(11);
    const auto text = [&](std::size_t size_max) {
        static constexpr std::string_view pieces[] = {"a",        "\"",  "\\", "/", "{",
                                                      "\xc3\xa9", "rf-", ",",  " "};
        std::string made;
        for (auto left = dice() % (size_max + 1); left > 0; --left) made += pieces[dice() % 9];
        return made;
    };
    for (int round = 0; round < 2'000; ++round) {
        auto what = order();
        what.endpoint = "e" + text(20);
        what.correlation_id = text(20);
        what.tenant = text(5);
        what.type = static_cast<message_type>(dice() % 4);
        if (dice() % 2 == 0) {
            what.content_type = "x/y";
            what.payload = text(30);
            if (dice() % 2 == 0) what.payload += static_cast<char>(dice());
        }
        expect_carried(what);
        if (HasFailure()) FAIL() << "round " << round;
    }
}

}  // namespace
}  // namespace posthorn
