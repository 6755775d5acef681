#include "transport/broker/publication.hpp"

#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "base/async/virtual_loop.hpp"
#include "transport/broker/broker_answers.hpp"
#include "transport/broker/broker_transport.hpp"

namespace posthorn {
namespace {

std::vector<broker_message> two() { return {{.id = "a"}, {.id = "b"}}; }

TEST(publication, ends_with_the_last_answer_and_keeps_the_first_to_each) {
    virtual_loop loop;
    publication batch(two());
    batch.answer(1, broker_has_it());
    batch.answer(1, broker_is_full("no"));
    batch.answer(7, broker_is_full("no"));
    batch.answer(0, broker_has_no_place("none"));
    const auto answers = loop.run(batch.answers());
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(answers[0].what, outcome::undeliverable);
    EXPECT_EQ(answers[0].code, error_code::unroutable);
    EXPECT_EQ(answers[1].what, outcome::delivered);
    EXPECT_TRUE(batch.is_over());
    batch.answer(0, broker_has_it());  // Too late to matter.
}

TEST(publication, without_messages_is_over_at_once) {
    virtual_loop loop;
    publication batch({});
    EXPECT_TRUE(loop.run(batch.answers()).empty());
}

/// Confirms the first message of a batch, and says nothing of the rest.
class half_a_broker final : public broker_publisher {
public:
    void publish(std::shared_ptr<publication> batch) override {
        batch->answer(0, broker_has_it());
        seen = batch->messages().size();
        kept = std::move(batch);
    }
    std::size_t seen = 0;
    std::shared_ptr<publication> kept;
};

TEST(broker_transport, that_is_cancelled_says_what_was_confirmed_and_leaves_the_rest_open) {
    virtual_loop loop;
    auto publisher = std::make_unique<half_a_broker>();
    broker_transport wire(std::move(publisher),
                          {.address = "{endpoint}",
                           .address_bytes_max = 255,
                           .is_address = [](std::string_view) { return true; }});
    message first, second;
    first.endpoint = second.endpoint = "E";
    std::vector<delivery> answers;
    task_group group(loop.executor());
    const auto send = [&]() -> task<> { answers = co_await wire.deliver({&first, &second}); };
    group.spawn(send());
    group.cancel();
    loop.run(group.join());
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(answers[0].what, outcome::delivered);
    EXPECT_EQ(answers[1].what, outcome::unanswered);
}

TEST(broker_transport, refuses_an_address_that_the_broker_could_not_carry) {
    virtual_loop loop;
    auto publisher = std::make_unique<half_a_broker>();
    auto& seen = *publisher;
    broker_transport wire(std::move(publisher),
                          {.address = "{endpoint}",
                           .address_bytes_max = 4,
                           .is_address = [](std::string_view) { return true; }});
    message fits, too_long;
    fits.endpoint = "E";
    too_long.endpoint = "Eeeee";
    const auto answers = loop.run(wire.deliver({&too_long, &fits}));
    EXPECT_EQ(answers[0].what, outcome::permanent);
    EXPECT_EQ(answers[1].what, outcome::delivered);
    EXPECT_EQ(seen.seen, 1U);
}

}  // namespace
}  // namespace posthorn
