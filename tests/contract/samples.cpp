// Prints one JSON object a line, {"schema": …, "good": […], "bad": […]}, for a validator that was
// not written here.
#include <cstdio>
#include <string>
#include <vector>

#include <posthorn/contract.hpp>

#include "support/order_contract.hpp"
#include "support/random_order.hpp"

namespace {

std::string list(const std::vector<std::string>& texts) {
    std::string made = "[";
    for (const auto& text : texts) {
        if (made.size() > 1) made += ',';
        made += text;
    }
    return made + "]";
}

template <class T>
void print(const std::vector<std::string>& good, const std::vector<std::string>& bad) {
    std::printf("{\"schema\":%s,\"good\":%s,\"bad\":%s}\n", posthorn::schema_of<T>().c_str(),
                list(good).c_str(), list(bad).c_str());
}

/// The message with one text in it replaced by another.
std::string with(std::string text, std::string_view from, std::string_view to) {
    text.replace(text.find(from), from.size(), to);
    return text;
}

}  // namespace

int main() {
    std::vector<std::string> good;
    for (std::uint64_t seed = 0; seed < 500; ++seed)
        good.push_back(posthorn::encode(shop::random_order(seed).make()));
    shop::everything plain;
    plain.items = {{"a", 1, 2.5}};
    const auto text = posthorn::encode(plain);
    print<shop::everything>(
        good, {with(text, "\"sku\":\"a\",", ""), with(text, "\"quantity\":1", "\"quantity\":1.5"),
               with(text, "\"tiny\":0", "\"tiny\":128"), with(text, "\"red\"", "\"pink\""),
               with(text, "\"flag\":false", "\"flag\":\"no\""), with(text, "PT0S", "0 s"),
               with(text, "1970-01-01T", "1970-13-01T"), with(text, "{\"none\":null}", "{}"),
               with(text, "00000000-0000", "00000000"), "[]", "{}"});

    print<shop::order_placed>(
        {posthorn::encode(shop::order_placed{}),
         with(posthorn::encode(shop::order_placed{}), "{", "{\"more\":1,")},
        {"null", with(posthorn::encode(shop::order_placed{}), ":0,", ":\"\",")});
}
