// What a transport does while nothing goes wrong.
#include <tuple>

#include "conformance/transport/suite.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t payload_bytes_max = std::size_t{1} << 20;

/// What goes with a message; the rest is the sender's own affair.
auto carried(const message& one) {
    return std::tie(one.id, one.type, one.source, one.destination, one.endpoint, one.payload,
                    one.content_type, one.headers, one.correlation_id, one.tenant, one.order_key,
                    one.parent_id, one.causation_id, one.created_at, one.expires_at);
}

std::string text_of(std::size_t bytes) { return '"' + std::string(bytes - 2, 'x') + '"'; }

TEST_P(transport_suite, brings_a_message_as_it_was_sent) {
    auto one = make("Take", R"({ "odd" : 1.0e2, "text":"ä\n" })");
    one.headers = R"({"x-colour":"blue"})";
    one.correlation_id = "order-17 ü";
    one.tenant = "north";
    one.order_key = "o 1";
    one.parent_id = make().id;
    one.causation_id = make().id;
    for (const auto type : {message_type::signal, message_type::command, message_type::push_call,
                            message_type::response}) {
        one.id = make().id;
        one.type = type;
        EXPECT_EQ(deliver(one).what, outcome::delivered);
        EXPECT_EQ(carried(receiver_.arrived().back()), carried(one));
    }
}

TEST_P(transport_suite, brings_payloads_that_are_no_json) {
    for (const auto& [type, payload] :
         {std::pair<std::string, std::string>{"text/plain", "two\nlines, \"quoted\""},
          {"application/octet-stream", std::string("\0\xff\x80 bytes", 9)},
          {"text/plain", ""}}) {
        auto one = make("Take", payload);
        one.content_type = type;
        const auto answer = deliver(one);
        EXPECT_EQ(answer.what, outcome::delivered) << answer.error;
        ASSERT_FALSE(receiver_.arrived().empty());
        EXPECT_EQ(carried(receiver_.arrived().back()), carried(one));
    }
}

TEST_P(transport_suite, answers_each_message_of_a_batch_in_order) {
    const auto many = make_many(50);
    const auto answers = deliver(many);
    ASSERT_EQ(answers.size(), 50U);
    const auto arrived = receiver_.arrived();
    ASSERT_EQ(arrived.size(), 50U);
    for (std::size_t i = 0; i < many.size(); ++i) {
        EXPECT_EQ(carried(arrived[i]), carried(many[i]));
        EXPECT_EQ(answers[i].what, outcome::delivered);
        EXPECT_THAT(answers[i].payload, HasSubstr(many[i].id.to_string()));
    }
}

TEST_P(transport_suite, answers_an_empty_batch_with_nothing) {
    EXPECT_THAT(deliver(std::vector<message>{}), IsEmpty());
    EXPECT_THAT(receiver_.arrived(), IsEmpty());
}

struct answer_case {
    std::string endpoint;
    outcome what;
    std::chrono::milliseconds retry_after{};
    std::optional<error_code> code{};
    std::string error{};
};

TEST_P(transport_suite, brings_back_what_the_receiver_says) {
    const std::vector<answer_case> cases{
        {"Take", outcome::delivered},
        {"Nothing", outcome::delivered},
        {"Fail", outcome::transient, 0ms, {}, "the handler failed"},
        {"Never", outcome::permanent, 0ms, {}, "the handler gave up"},
        {"Later", outcome::throttled, 7300ms, {}, "at work on it"},
        {"Full", outcome::throttled, 5s, error_code::store_full, "no room"},
        {"Nobody", outcome::undeliverable, 0ms, error_code::no_handler, "no handler for Nobody"},
        {"Expired", outcome::permanent, 0ms, error_code::message_expired, "past the horizon"}};
    std::vector<message> all;
    for (const auto& each : cases) all.push_back(make(each.endpoint));
    const auto expect = [](const delivery& answer, const answer_case& wanted) {
        SCOPED_TRACE(wanted.endpoint);
        EXPECT_EQ(answer.what, wanted.what);
        EXPECT_EQ(answer.retry_after, wanted.retry_after);
        EXPECT_EQ(answer.code, wanted.code);
        EXPECT_THAT(answer.error, HasSubstr(wanted.error));
        EXPECT_EQ(answer.payload.empty(), wanted.endpoint != "Take");
        EXPECT_FALSE(answer.duplicate);
    };
    const auto together = deliver(all);
    ASSERT_EQ(together.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        expect(together[i], cases[i]);
        expect(deliver(make(cases[i].endpoint)), cases[i]);
    }
}

TEST_P(transport_suite, gives_a_duplicate_the_first_response_to_the_byte) {
    const auto many = make_many(3);
    const auto first = deliver(many);
    expect_works();
    const auto again = deliver(many);
    ASSERT_EQ(again.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(again[i].what, outcome::delivered);
        EXPECT_TRUE(again[i].duplicate);
        EXPECT_FALSE(again[i].payload.empty());
        EXPECT_EQ(again[i].payload, first[i].payload);
        EXPECT_EQ(deliver(many[i]).payload, first[i].payload);  // Alone too.
        EXPECT_EQ(effects_of(many[i]), 1);
    }
}

TEST_P(transport_suite, tells_that_a_known_id_came_with_another_body) {
    auto one = make();
    EXPECT_EQ(deliver(one).what, outcome::delivered);
    one.payload = R"({"n":2})";
    const auto answer = deliver(one);
    EXPECT_EQ(answer.what, outcome::permanent);
    EXPECT_EQ(answer.code, error_code::id_reused);
    EXPECT_EQ(effects_of(one), 1);
}

TEST_P(transport_suite, takes_a_payload_of_just_the_limit_and_buries_one_byte_more) {
    const auto largest = make("Take", text_of(payload_bytes_max));
    const auto taken = deliver(largest);
    EXPECT_EQ(taken.what, outcome::delivered) << taken.error;
    EXPECT_EQ(receiver_.arrived().back().payload, largest.payload);
    const auto refused = deliver(make("Take", text_of(payload_bytes_max + 1)));
    EXPECT_EQ(refused.what, outcome::permanent) << refused.error;
    EXPECT_EQ(refused.code, error_code::message_too_large);
    expect_works();
}

TEST_P(transport_suite, brings_a_batch_that_is_larger_than_a_request_may_be) {
    std::vector<message> many;
    for (int i = 0; i < 4; ++i) many.push_back(make("Take", text_of(700'000)));
    many.insert(many.begin() + 2, make());
    const auto answers = deliver(many);
    ASSERT_EQ(answers.size(), many.size());
    EXPECT_THAT(answers, all_are(outcome::delivered));
    const auto arrived = receiver_.arrived();
    ASSERT_EQ(arrived.size(), many.size());
    for (std::size_t i = 0; i < many.size(); ++i) EXPECT_EQ(arrived[i].id, many[i].id);
}

task<std::size_t> deliver_one_by_one(transport& over, const std::vector<message>& messages) {
    std::size_t delivered = 0;
    for (const auto& one : messages) {
        const auto answers = co_await over.deliver({&one});
        if (answers.size() == 1 && answers[0].what == outcome::delivered && !answers[0].duplicate)
            ++delivered;
    }
    co_return delivered;
}

TEST_P(transport_suite, brings_a_thousand_messages_in_a_row) {
    const auto many = make_many(1000);
    EXPECT_EQ(start(threads_.executor(), deliver_one_by_one(*wire_, many)).get(), 1000U);
    const auto arrived = receiver_.arrived();
    ASSERT_EQ(arrived.size(), 1000U);
    for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(arrived[i].id, many[i].id);
}

TEST_P(transport_suite, gives_each_of_many_deliveries_at_once_its_own_answers) {
    std::vector<std::vector<message>> batches;
    for (std::size_t i = 0; i < 60; ++i) batches.push_back(make_many(1 + i % 5));
    std::vector<std::future<deliveries>> under_way;
    for (const auto& batch : batches) under_way.push_back(begin(*wire_, batch));
    for (std::size_t i = 0; i < batches.size(); ++i) {
        const auto answers = under_way[i].get();
        ASSERT_EQ(answers.size(), batches[i].size());
        for (std::size_t k = 0; k < answers.size(); ++k)
            EXPECT_THAT(answers[k].payload, HasSubstr(batches[i][k].id.to_string()));
    }
}

TEST_P(transport_suite, lets_a_delivery_pass_while_another_waits) {
    const std::vector slow{make("Wait")};
    auto waiting = begin(*wire_, slow);
    ASSERT_TRUE(are_waiting(1));
    expect_works();
    receiver_.release();
    EXPECT_THAT(waiting.get(), all_are(outcome::delivered));
}

}  // namespace
}  // namespace posthorn::conformance
