#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include <posthorn/contract.hpp>

/// Messages that hold every type a message can hold; shared by tests, fuzzer and benchmark.
namespace shop {

enum class colour : std::uint8_t { red, dark_green, blue };
POSTHORN_ENUM(colour, red, dark_green, (blue, "Blue"))

struct line {
    std::string sku;
    std::int32_t quantity = 0;
    std::optional<double> price;
    bool operator==(const line&) const = default;
};
POSTHORN_STRUCT(line, sku, quantity, price)

struct card {
    std::string number;
    bool operator==(const card&) const = default;
};
POSTHORN_STRUCT(card, number)

struct everything {
    std::string text;
    bool flag = false;
    std::int8_t tiny = 0;
    std::uint16_t small_natural = 0;
    std::int64_t large = 0;
    std::uint64_t largest = 0;
    float single = 0;
    double real = 0;
    colour paint{};
    std::optional<std::string> note;
    std::vector<line> items;
    std::vector<std::optional<int>> holes;
    std::map<std::string, std::int32_t> counts;
    std::unordered_map<std::string, line> by_sku;
    std::variant<std::monostate, card, std::int64_t, std::string> payment;
    posthorn::wall_time at{};
    std::chrono::sys_time<std::chrono::nanoseconds> exactly{};
    std::chrono::milliseconds took{};
    std::chrono::hours within{};
    posthorn::uuid id;
    posthorn::raw_json extra;
    std::string renamed;
    bool operator==(const everything&) const = default;
};
POSTHORN_SIGNAL(everything, "Everything", text, flag, tiny, small_natural, large, largest, single,
                real, paint, note, items, holes, counts, by_sku, payment, at, exactly, took, within,
                id, extra, (renamed, "OtherName"))

/// Ten fields, as a common message has.
struct order_placed {
    std::string order_id;
    std::string customer;
    std::string currency;
    std::int64_t cents = 0;
    std::int32_t lines = 0;
    bool express = false;
    double weight = 0;
    std::string street;
    std::string city;
    std::string note;
    bool operator==(const order_placed&) const = default;
};
POSTHORN_SIGNAL(order_placed, "OrderPlaced", order_id, customer, currency, cents, lines, express,
                weight, street, city, note)

}  // namespace shop
