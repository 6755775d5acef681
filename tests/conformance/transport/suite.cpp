#include "conformance/transport/suite.hpp"

#include "base/time/clock.hpp"

namespace posthorn::conformance {

using namespace std::chrono_literals;

message transport_fixture::make(std::string endpoint, std::string payload) {
    message one;
    one.id = ids_.next();
    one.source = sender;
    one.destination = destination;
    one.endpoint = std::move(endpoint);
    one.payload = std::move(payload);
    one.created_at = real_clock().wall();
    one.expires_at = one.created_at + 24h;
    return one;
}

std::vector<message> transport_fixture::make_many(std::size_t count) {
    std::vector<message> many;
    for (std::size_t i = 0; i < count; ++i)
        many.push_back(make("Take", R"({"n":)" + std::to_string(i) + "}"));
    return many;
}

std::future<deliveries> transport_fixture::begin(transport& over,
                                                 const std::vector<message>& messages) {
    message_batch batch;
    for (const auto& one : messages) batch.push_back(&one);
    return start(threads_.executor(), over.deliver(std::move(batch)));
}

void transport_fixture::expect_works() {
    const auto one = make();
    const auto answer = deliver(one);
    EXPECT_EQ(answer.what, outcome::delivered) << answer.error;
    EXPECT_FALSE(answer.duplicate);
    EXPECT_EQ(effects_of(one), 1);
}

void transport_fixture::expect_duplicates(const std::vector<message>& messages) {
    const auto answers = deliver(messages);
    ASSERT_EQ(answers.size(), messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
        EXPECT_EQ(answers[i].what, outcome::delivered) << answers[i].error;
        EXPECT_TRUE(answers[i].duplicate);
        EXPECT_EQ(effects_of(messages[i]), 1);
    }
}

int transport_fixture::effects_of(const message& one) {
    const auto all = receiver_.effects();
    const auto found = all.find(one.id);
    return found == all.end() ? 0 : found->second;
}

}  // namespace posthorn::conformance
