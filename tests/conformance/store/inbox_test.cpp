// What a receiver remembers, so that each message takes effect once.
#include "conformance/store/suite.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

body_hash hash_of(unsigned char first) {
    body_hash hash{};
    for (std::size_t i = 0; i < hash.size(); ++i) hash[i] = static_cast<std::byte>(first + 7 * i);
    return hash;
}

inbox_record record_of(const inbox_key& key) {
    return {.key = key,
            .endpoint = "Charge",
            .hash = hash_of(3),
            .response = {},
            .processed_at = noon,
            .expires_at = noon + 48h};
}

inbox_claim claim_of(const inbox_key& key, std::string_view owner, wall_time until) {
    return {.key = key,
            .endpoint = "Charge",
            .hash = hash_of(3),
            .owner = owner,
            .until = until,
            .expires_at = noon + 48h};
}

TEST_P(store, a_message_is_taken_in_once) {
    const inbox_key key{"orders", new_id()};
    const auto insert = [&] {
        return write<bool>(
            [&](store_transaction& tx) { return tx.inbox().insert(record_of(key)); });
    };
    EXPECT_TRUE(insert());
    EXPECT_FALSE(insert());
    EXPECT_EQ(number("SELECT count(*) FROM inbox_messages"), 1);
}

TEST_P(store, the_second_insert_in_one_unit_finds_the_first) {
    const inbox_key key{"orders", new_id()};
    must([&](store_transaction& tx) -> result<> {
        EXPECT_EQ(tx.inbox().insert(record_of(key)), true);
        EXPECT_EQ(tx.inbox().insert(record_of(key)), false);
        return {};
    });
}

TEST_P(store, a_second_insert_changes_nothing_of_the_first) {
    const inbox_key key{"orders", new_id()};
    auto first = record_of(key);
    first.response = "first";
    auto second = record_of(key);
    second.response = "second";
    second.hash = hash_of(99);
    write<bool>([&](store_transaction& tx) { return tx.inbox().insert(first); });
    EXPECT_FALSE(write<bool>([&](store_transaction& tx) { return tx.inbox().insert(second); }));
    const auto found = look<std::optional<inbox_entry>>(
        [&](store_reader& reader) { return reader.inbox().find(key); });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->response, "first");
    EXPECT_EQ(found->hash, hash_of(3));
}

TEST_P(store, a_message_of_a_refused_unit_was_not_taken_in) {
    const inbox_key key{"orders", new_id()};
    EXPECT_FALSE(run([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.inbox().insert(record_of(key)));
        return fail(error_code::no_handler, "nobody wants it");
    }));
    EXPECT_TRUE(
        write<bool>([&](store_transaction& tx) { return tx.inbox().insert(record_of(key)); }));
}

TEST_P(store, the_same_id_from_another_source_is_another_message) {
    const auto id = new_id();
    for (const auto* source : {"orders", "stock", "Orders", "", "orders "}) {
        EXPECT_TRUE(write<bool>([&](store_transaction& tx) {
            return tx.inbox().insert(record_of({source, id}));
        })) << source;
    }
    EXPECT_EQ(look<std::int64_t>([](store_reader& reader) { return reader.inbox().count(); }), 5);
}

TEST_P(store, a_message_that_never_came_is_not_found) {
    const inbox_key key{"orders", new_id()};
    EXPECT_FALSE(look<std::optional<inbox_entry>>(
        [&](store_reader& reader) { return reader.inbox().find(key); }));
    EXPECT_FALSE(write<std::optional<inbox_entry>>(
        [&](store_transaction& tx) { return tx.inbox().find(key); }));
}

TEST_P(store, find_gives_the_hash_and_the_response_byte_for_byte) {
    const inbox_key key{"orders", new_id()};
    auto record = record_of(key);
    const std::string response = "{\"ok\":\"Grüße \U0001F4EF\"}\r\n\t ";
    record.response = response;
    write<bool>([&](store_transaction& tx) { return tx.inbox().insert(record); });
    const auto outside = look<std::optional<inbox_entry>>(
        [&](store_reader& reader) { return reader.inbox().find(key); });
    const auto inside = write<std::optional<inbox_entry>>(
        [&](store_transaction& tx) { return tx.inbox().find(key); });
    for (const auto& found : {outside, inside}) {
        ASSERT_TRUE(found);
        EXPECT_TRUE(found->processed);
        EXPECT_EQ(found->hash, hash_of(3));
        EXPECT_EQ(found->response, response);
    }
}

TEST_P(store, a_response_is_added_in_the_unit_that_took_the_message_in) {
    const inbox_key key{"orders", new_id()};
    const inbox_key other{"orders", new_id()};
    const std::string response(100'000, 'r');
    must([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.inbox().insert(record_of(other)));
        POSTHORN_TRY(tx.inbox().insert(record_of(key)));
        return tx.inbox().respond(key, response);
    });
    const auto response_of = [&](const inbox_key& which) {
        const auto found = look<std::optional<inbox_entry>>(
            [&](store_reader& reader) { return reader.inbox().find(which); });
        return found ? found->response : "not found";
    };
    EXPECT_TRUE(response_of(key) == response);
    EXPECT_EQ(response_of(other), "");
}

TEST_P(store, an_empty_response_stays_empty) {
    const inbox_key key{"orders", new_id()};
    must([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.inbox().insert(record_of(key)));
        return tx.inbox().respond(key, "");
    });
    const auto found = look<std::optional<inbox_entry>>(
        [&](store_reader& reader) { return reader.inbox().find(key); });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->response, "");
    EXPECT_TRUE(found->processed);
}

/// The claims of external handlers on one message.
class claims {
public:
    explicit claims(inbox_key key) : key_(key) {}
    std::function<result<bool>(store_transaction&)> take(std::string_view owner, wall_time until,
                                                         wall_time now) {
        return [=, this](store_transaction& tx) {
            return tx.inbox().claim(claim_of(key_, owner, until), now);
        };
    }
    std::function<result<bool>(store_transaction&)> complete(std::string_view owner,
                                                             std::string_view response) {
        return [=, this](store_transaction& tx) {
            auto record = record_of(key_);
            record.response = response;
            return tx.inbox().complete(record, owner);
        };
    }
    std::function<result<bool>(store_transaction&)> release(std::string_view owner) {
        return [=, this](store_transaction& tx) { return tx.inbox().release(key_, owner); };
    }

private:
    inbox_key key_;
};

TEST_P(store, a_claim_shows_its_owner_and_its_end) {
    const inbox_key key{"orders", new_id()};
    EXPECT_TRUE(write<bool>(claims(key).take("a", noon + 30s, noon)));
    const auto found = look<std::optional<inbox_entry>>(
        [&](store_reader& reader) { return reader.inbox().find(key); });
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->processed);
    EXPECT_EQ(found->claim_owner, "a");
    EXPECT_EQ(found->claimed_until, noon + 30s);
    EXPECT_EQ(found->hash, hash_of(3));
    EXPECT_EQ(found->response, "");
}

TEST_P(store, a_claim_is_taken_over_once_it_has_run_out_and_not_before) {
    const inbox_key key{"orders", new_id()};
    claims all(key);
    EXPECT_TRUE(write<bool>(all.take("a", noon + 30s, noon)));
    EXPECT_FALSE(write<bool>(all.take("b", noon + 60s, noon)));
    EXPECT_FALSE(write<bool>(all.take("b", noon + 60s, noon + 30s - 1ms)));
    EXPECT_TRUE(write<bool>(all.take("b", noon + 60s, noon + 30s + 1ms)));
    EXPECT_FALSE(write<bool>(all.take("c", noon + 90s, noon + 31s)));
}

TEST_P(store, a_claim_is_completed_by_its_owner_alone) {
    const inbox_key key{"orders", new_id()};
    claims all(key);
    EXPECT_FALSE(write<bool>(all.complete("a", "too early")));
    EXPECT_TRUE(write<bool>(all.take("a", noon + 30s, noon)));
    EXPECT_FALSE(write<bool>(all.complete("b", "not mine")));
    EXPECT_TRUE(write<bool>(all.complete("a", "done")));
    EXPECT_FALSE(write<bool>(all.complete("a", "done again")));
    const auto found = look<std::optional<inbox_entry>>(
        [&](store_reader& reader) { return reader.inbox().find(key); });
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->processed);
    EXPECT_EQ(found->response, "done");
}

TEST_P(store, an_owner_whose_claim_was_taken_over_completes_nothing) {
    claims all({"orders", new_id()});
    EXPECT_TRUE(write<bool>(all.take("a", noon + 30s, noon)));
    EXPECT_TRUE(write<bool>(all.take("b", noon + 90s, noon + 31s)));
    EXPECT_FALSE(write<bool>(all.complete("a", "late")));
    EXPECT_FALSE(write<bool>(all.release("a")));
    EXPECT_TRUE(write<bool>(all.complete("b", "in time")));
}

TEST_P(store, a_processed_message_cannot_be_claimed) {
    const inbox_key key{"orders", new_id()};
    write<bool>([&](store_transaction& tx) { return tx.inbox().insert(record_of(key)); });
    EXPECT_FALSE(write<bool>(claims(key).take("a", noon + 200h, noon + 100h)));
    EXPECT_FALSE(write<bool>(claims(key).release("a")));
    EXPECT_FALSE(write<bool>(claims(key).release("")));
}

TEST_P(store, a_released_claim_is_free_at_once) {
    const inbox_key key{"orders", new_id()};
    claims all(key);
    EXPECT_TRUE(write<bool>(all.take("a", noon + 30s, noon)));
    EXPECT_FALSE(write<bool>(all.release("b")));
    EXPECT_TRUE(write<bool>(all.release("a")));
    EXPECT_FALSE(write<bool>(all.release("a")));
    EXPECT_TRUE(write<bool>(all.take("b", noon + 30s, noon)));
}

TEST_P(store, a_claimed_message_is_not_taken_in_by_a_transactional_handler) {
    const inbox_key key{"orders", new_id()};
    EXPECT_TRUE(write<bool>(claims(key).take("a", noon + 30s, noon)));
    EXPECT_FALSE(
        write<bool>([&](store_transaction& tx) { return tx.inbox().insert(record_of(key)); }));
}

TEST_P(store, rows_past_their_time_are_purged_in_slices) {
    must([&](store_transaction& tx) -> result<> {
        for (int i = 0; i < 10; ++i) {
            auto record = record_of({"orders", new_id()});
            record.expires_at = noon + std::chrono::hours{i};
            POSTHORN_TRY(tx.inbox().insert(record));
        }
        return {};
    });
    const real_clock time;
    const auto purge = [&](wall_time now, std::size_t limit) {
        return write<std::size_t>([&](store_transaction& tx) -> result<std::size_t> {
            const auto done = tx.old().purge(row_kind::received, now, slice(time, limit, 1h));
            POSTHORN_TRY(done);
            return done->rows;
        });
    };
    const auto left = [&] {
        return look<std::int64_t>([](store_reader& reader) { return reader.inbox().count(); });
    };
    EXPECT_EQ(purge(noon, 100), 0U);
    EXPECT_EQ(purge(noon + 4h + 1ms, 2), 2U);  // Five are past; two go now.
    EXPECT_EQ(left(), 8);
    EXPECT_EQ(purge(noon + 4h + 1ms, 100), 3U);
    EXPECT_EQ(purge(noon + 4h + 1ms, 100), 0U);
    EXPECT_EQ(left(), 5);
    EXPECT_EQ(number("SELECT min(expires_at) FROM inbox_messages"),
              (noon + 5h).time_since_epoch().count());
}

TEST_P(store, an_effect_its_record_and_its_messages_commit_together) {
    make_tables();
    const inbox_key key{"orders", new_id()};
    const auto reply = sample();
    const auto outcome = run([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.inbox().insert(record_of(key)));
        POSTHORN_TRY(tx.execute("INSERT INTO t VALUES (1)", {}));
        POSTHORN_TRY(tx.outbox().insert(reply));
        POSTHORN_TRY(tx.inbox().respond(key, "done"));
        POSTHORN_TRY(tx.execute("INSERT INTO held VALUES (1)", {}));  // There already.
        return {};
    });
    EXPECT_FALSE(outcome);
    EXPECT_EQ(number("SELECT (SELECT count(*) FROM t) + (SELECT count(*) FROM inbox_messages) "
                     "+ (SELECT count(*) FROM outbox_messages)"),
              0);
}

}  // namespace
}  // namespace posthorn::conformance
