// A server that dies as in a power cut, and comes back, on a server of this process alone.
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "base/uuid_generator.hpp"
#include "postgres/node.hpp"
#include "support/eventually.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

message numbered(uuid_generator& ids) {
    message body;
    body.id = ids.next();
    body.source = "orders";
    body.destination = "billing";
    body.endpoint = "Charge";
    body.payload = "{}";
    body.created_at = noon;
    body.expires_at = noon + 24h;
    return body;
}

TEST(postgres_crash, of_the_server_at_any_moment_loses_no_answered_message_and_invents_none) {
    const int crashes = test::number_from("POSTHORN_CRASHES", 3);
    constexpr int between = 40;  // Messages that are answered from one to the next.
    const test::postgres_place place;
    a_store node(place);
    seeded_random random{7};
    uuid_generator ids{[] { return noon; }, random};
    std::atomic<bool> done = false;
    std::atomic<int> answered = 0;
    std::jthread killer([&] {
        for (int i = 1; i <= crashes; ++i) {
            EXPECT_TRUE(test::eventually([&] { return answered >= i * between; }, 60s));
            test::crash_postgres();
        }
        done = true;
    });
    std::map<uuid, result<>> answers;
    const auto is_answered = [&] {
        const auto body = numbered(ids);
        return answers.emplace(body.id, node.put(body)).first->second.has_value();
    };
    while (!done) {
        if (is_answered())
            ++answered;
        else  // Without a server refusals would come by the million.
            static_cast<void>(test::eventually([&] { return done.load(); }, 2ms));
    }
    killer.join();
    // The server is there again before the store has asked it the next time.
    ASSERT_TRUE(test::eventually(is_answered, 30s)) << "it comes back by itself";
    std::set<std::string> there;
    test::postgres_client other(place.url());
    for (const auto& row : other.rows("SELECT message_id FROM outbox_messages"))
        there.insert(row[0].value_or(""));
    for (const auto& [id, answer] : answers) {
        if (answer)
            EXPECT_TRUE(there.contains(id.to_string())) << "answered and lost";
        else if (!answer.error().is_in_doubt())
            EXPECT_FALSE(there.contains(id.to_string())) << answer.error().what();
    }
    EXPECT_GE(answered, crashes * between);
    fmt::print("{} crashes of the server: {} of {} sends answered, none lost, none invented\n",
               crashes, answered.load(), answers.size());
    EXPECT_TRUE(succeeded(node.get().check_integrity()));
}

}  // namespace
}  // namespace posthorn::conformance
