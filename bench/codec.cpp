// Encode plus decode of a message of ten fields: as the compiler writes it from its description,
// and as a person would write it on the same JSON library.
//
//   bench_codec [RATIO_MAX]     exits with 1 if the first takes more than so many times the second
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include <simdjson.h>

#include <posthorn/contract.hpp>

#include "support/order_contract.hpp"

namespace {

using steady = std::chrono::steady_clock;
using shop::order_placed;

const order_placed sample{"o-2026-000123",
                          "Ann Example",
                          "EUR",
                          12'995,
                          3,
                          true,
                          2.75,
                          "Main Street 1",
                          "Springfield",
                          "call before the delivery"};

void append_text(std::string& out, std::string_view name, std::string_view value) {
    out += '"';
    out += name;
    out += "\":\"";
    for (const char c : value) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < 0x20) throw std::runtime_error("left to the reader");
        out += c;
    }
    out += '"';
}

template <class Number>
void append_number(std::string& out, std::string_view name, Number value) {
    std::array<char, 32> text;
    const auto made = std::to_chars(text.data(), text.data() + text.size(), value);
    out += '"';
    out += name;
    out += "\":";
    out.append(text.data(), made.ptr);
}

std::string encode_by_hand(const order_placed& from) {
    std::string out;
    out.reserve(256);
    out += '{';
    append_text(out, "orderId", from.order_id);
    append_text(out += ',', "customer", from.customer);
    append_text(out += ',', "currency", from.currency);
    append_number(out += ',', "cents", from.cents);
    append_number(out += ',', "lines", from.lines);
    out += from.express ? ",\"express\":true" : ",\"express\":false";
    append_number(out += ',', "weight", from.weight);
    append_text(out += ',', "street", from.street);
    append_text(out += ',', "city", from.city);
    append_text(out += ',', "note", from.note);
    out += '}';
    return out;
}

order_placed decode_by_hand(std::string_view text) {
    static thread_local simdjson::ondemand::parser parser;
    static thread_local std::string padded;
    padded.clear();
    padded.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    padded += text;
    auto document = parser.iterate(padded.data(), padded.size(), padded.capacity());
    auto object = document.get_object();
    order_placed to;
    to.order_id = std::string_view(object["orderId"]);
    to.customer = std::string_view(object["customer"]);
    to.currency = std::string_view(object["currency"]);
    to.cents = std::int64_t(object["cents"]);
    to.lines = static_cast<std::int32_t>(std::int64_t(object["lines"]));
    to.express = bool(object["express"]);
    to.weight = double(object["weight"]);
    to.street = std::string_view(object["street"]);
    to.city = std::string_view(object["city"]);
    to.note = std::string_view(object["note"]);
    return to;
}

template <class Encode, class Decode>
double nanoseconds_each(Encode&& encode, Decode&& decode) {
    constexpr int rounds = 20'000;
    const auto begun = steady::now();
    for (int i = 0; i < rounds; ++i)
        if (decode(encode(sample)).cents != sample.cents) std::abort();
    return std::chrono::duration<double, std::nano>(steady::now() - begun).count() / rounds;
}

}  // namespace

int main(int argc, char** argv) {
    if (posthorn::encode(sample) != encode_by_hand(sample)) std::abort();
    if (posthorn::decode<order_placed>(encode_by_hand(sample)) != sample) std::abort();
    // The best of many short turns, by turns, so that a busy machine disturbs both alike.
    double ours = 1e9;
    double theirs = 1e9;
    for (int turn = 0; turn < 40; ++turn) {
        ours = std::min(ours, nanoseconds_each(
                                  [](const auto& m) { return posthorn::encode(m); },
                                  [](const auto& t) { return posthorn::decode<order_placed>(t); }));
        theirs = std::min(theirs, nanoseconds_each(encode_by_hand, decode_by_hand));
    }
    std::printf("described: %.0f ns, by hand: %.0f ns, ratio %.2f\n", ours, theirs, ours / theirs);
    return argc > 1 && ours > std::atof(argv[1]) * theirs ? 1 : 0;
}
