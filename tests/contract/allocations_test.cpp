#include <atomic>
#include <cstdlib>
#include <future>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include <posthorn/posthorn.hpp>

#include "support/order_contract.hpp"

namespace {

constexpr std::size_t large_size = 256 * 1024;

thread_local std::size_t allocated = 0;
std::atomic<std::size_t> large = 0;  // On any thread.

}  // namespace

void* operator new(std::size_t size) {
    ++allocated;
    if (size >= large_size) ++large;
    if (void* made = std::malloc(size)) return made;
    throw std::bad_alloc();
}
void operator delete(void* what) noexcept { std::free(what); }
void operator delete(void* what, std::size_t) noexcept { std::free(what); }

namespace posthorn {
namespace {

using shop::order_placed;

std::size_t allocations_of_decoding(const order_placed& message) {
    const auto text = encode(message);
    static_cast<void>(decode<order_placed>(text));  // The reader gets its workplace, once.
    const auto before = allocated;
    const auto decoded = decode<order_placed>(text);
    const auto spent = allocated - before;
    EXPECT_EQ(decoded, message);
    return spent;
}

TEST(allocations, decoding_needs_none_beyond_those_of_its_strings) {
    EXPECT_EQ(allocations_of_decoding({"o1", "ann", "EUR", 1, 2, true, 0.5, "s", "c", "\n"}), 0U);
    const std::string large(100, 'x');
    EXPECT_EQ(allocations_of_decoding({large, "ann", large, 1, 2, true, 0.5, "s", "c", large}), 3U);
}

/// How many texts as large as the payload are made while it is sent.
class sending : public testing::Test {
protected:
    template <class Send>
    std::size_t copies_of(Send send) {
        send();  // What is made once and kept.
        const auto before = large.load();
        send();
        return large.load() - before;
    }

    const std::string payload_ = std::string(2 * large_size, 'x');
    const send_options plain_{.content_type = "text/plain"};
    node orders_{{.service = "orders", .store = {.database = "memory:"}}};
};

TEST_F(sending, text_that_stays_with_its_caller_copies_it_once) {
    EXPECT_EQ(copies_of([&] { orders_.send("stock", "Note", payload_, plain_); }), 1U);
    EXPECT_EQ(
        copies_of([&] {
            orders_.transact([&](transaction& tx) { tx.send("stock", "Note", payload_, plain_); });
        }),
        1U);
}

TEST_F(sending, text_that_is_given_away_copies_nothing) {
    std::string given[2] = {payload_, payload_};
    EXPECT_EQ(copies_of([&, next = 0]() mutable {
                  std::promise<void> done;
                  orders_.send_then("stock", "Note", std::move(given[next++]), plain_,
                                    [&](uuid, std::exception_ptr) { done.set_value(); });
                  done.get_future().wait();
              }),
              0U);
}

struct other {
    int value = 0;
};
POSTHORN_SIGNAL(other, "Other", value)

TEST(allocations, routing_needs_none) {
    using shop_service = service<"shop", 7, order_placed, other>;
    const auto before = allocated;
    const auto found = shop_service::index_of("shop/v7/Other");
    const auto missing = shop_service::index_of("shop/v7/Otter");
    EXPECT_EQ(allocated, before);
    EXPECT_EQ(found, 1U);
    EXPECT_EQ(missing, 2U);
    static_assert(shop_service::index_of("shop/v7/OrderPlaced") == 0);
    static_assert(shop_service::index_of("shop/v6/OrderPlaced") == 2);
}

}  // namespace
}  // namespace posthorn
