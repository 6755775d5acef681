#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <posthorn/own_stores.hpp>

namespace posthorn::conformance {

/// The three stores of an application, and what they stand on.
struct own_stores {
    std::shared_ptr<void> base{};
    std::unique_ptr<own_outbox> outbox;
    std::unique_ptr<own_inbox> inbox;
    std::unique_ptr<own_dead_letters> dead_letters;
};

struct own_factory {
    std::string name;
    std::function<own_stores()> make;
};

[[nodiscard]] own_factory in_memory();
[[nodiscard]] own_factory of_a_shop();

/// What every store of an application's own has to do; those in memory, and those of an application
/// in shop_stores.cpp, are held to it.
class own_store : public ::testing::TestWithParam<own_factory> {
protected:
    static constexpr wall_time noon{std::chrono::milliseconds{1'900'000'000'000}};

    own_message event(const std::string& payload = "{}");
    own_message added(const std::string& payload = "{}");
    /// The payloads of what is pending, one behind the other.
    std::string pending(wall_time at = noon, std::size_t limit = 100);

    own_stores stores_ = GetParam().make();

private:
    std::uint8_t last_ = 0;
};

}  // namespace posthorn::conformance
