#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <posthorn/contract.hpp>

namespace posthorn {
namespace {

struct receipt {
    std::string number;
};
struct printed {
    operator receipt() const { return {"r"}; }  // NOLINT(google-explicit-constructor)
};

TEST(handler_response, may_be_what_becomes_the_response_and_loses_nothing) {
    using detail::becomes;
    EXPECT_TRUE((becomes<int, int>));
    EXPECT_TRUE((becomes<int, std::int64_t>));
    EXPECT_TRUE((becomes<float, double>));
    EXPECT_TRUE((becomes<const char*, std::string>));
    EXPECT_TRUE((becomes<receipt, receipt>));
    EXPECT_TRUE((becomes<printed, receipt>));
    EXPECT_TRUE((becomes<int, std::optional<int>>));
    EXPECT_TRUE((becomes<std::nullopt_t, std::optional<int>>));
    EXPECT_TRUE((becomes<std::optional<int>, std::optional<int>>));
    EXPECT_TRUE((becomes<std::vector<int>, std::vector<int>>));
    EXPECT_TRUE((becomes<std::string, std::variant<int, std::string>>));
}

TEST(handler_response, may_not_be_what_loses_something_on_the_way) {
    using detail::becomes;
    EXPECT_FALSE((becomes<double, int>));
    EXPECT_FALSE((becomes<double, float>));
    EXPECT_FALSE((becomes<std::int64_t, int>));
    EXPECT_FALSE((becomes<int, unsigned>));
    EXPECT_FALSE((becomes<const char*, bool>));
    EXPECT_FALSE((becomes<double, std::optional<int>>));
    EXPECT_FALSE((becomes<std::optional<double>, std::optional<int>>));
    EXPECT_FALSE((becomes<std::optional<int>, int>));
    EXPECT_FALSE((becomes<std::string, receipt>));
}

}  // namespace
}  // namespace posthorn
