#include "conformance/own/suite.hpp"

#include "conformance/own/shop_stores.hpp"

namespace posthorn::conformance {

own_message own_store::event(const std::string& payload) {
    uuid::bytes_type bytes{};
    bytes.back() = ++last_;
    return {
        .id = uuid(bytes), .event_type = "OrderCreated", .payload = payload, .created_at = noon};
}

own_message own_store::added(const std::string& payload) {
    auto one = event(payload);
    stores_.outbox->add(one);
    return one;
}

std::string own_store::pending(wall_time at, std::size_t limit) {
    std::string all;
    for (const auto& one : stores_.outbox->pending(limit, at)) all += one.payload;
    return all;
}

own_factory in_memory() {
    return {"in_memory", [] {
                own_stores made{.outbox = make_memory_outbox(),
                                .inbox = make_memory_inbox(),
                                .dead_letters = nullptr};
                made.dead_letters = make_memory_dead_letters(*made.outbox);
                return made;
            }};
}

own_factory of_a_shop() {
    return {"of_a_shop", [] {
                auto base = std::make_shared<shop::database>(":memory:");
                return own_stores{.base = base,
                                  .outbox = shop::make_outbox(*base),
                                  .inbox = shop::make_inbox(*base),
                                  .dead_letters = shop::make_dead_letters(*base)};
            }};
}

INSTANTIATE_TEST_SUITE_P(own, own_store, ::testing::Values(in_memory(), of_a_shop()),
                         [](const auto& which) { return which.param.name; });

}  // namespace posthorn::conformance
