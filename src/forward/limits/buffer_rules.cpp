#include "forward/limits/buffer_rules.hpp"

#include <algorithm>
#include <optional>

#include "base/bounded_sum.hpp"
#include "base/text/utf8.hpp"
#include "forward/forward_terms.hpp"

namespace posthorn {
namespace {

constexpr std::string_view over_whole =
    "dropped: forward.max_messages or forward.max_bytes is reached";

struct amount {
    std::int64_t messages = 0;
    std::int64_t bytes = 0;

    [[nodiscard]] bool is_none() const { return messages <= 0 && bytes <= 0; }
    void take(const drop_wish& wish) {
        messages -= wish.messages;
        bytes -= wish.bytes;
    }
};

amount held_by(const forward_total& of) { return {of.waiting + of.parked, of.bytes}; }

amount held_by_all(const std::vector<forward_total>& held) {
    amount all;
    for (const auto& each : held) {
        all.messages = bounded_sum(all.messages, bounded_sum(each.waiting, each.parked));
        all.bytes = bounded_sum(all.bytes, each.bytes);
    }
    return all;
}

amount excess_of(const amount& held, const buffer_cap& cap) {
    return {cap.messages > 0 ? std::max<std::int64_t>(held.messages - cap.messages, 0) : 0,
            cap.bytes > 0 ? std::max<std::int64_t>(held.bytes - cap.bytes, 0) : 0};
}

bool is_full(const amount& held, const buffer_cap& cap) {
    return (cap.messages > 0 && held.messages >= cap.messages) ||
           (cap.bytes > 0 && held.bytes >= cap.bytes);
}

/// Where a category stands in the order in which they go.
std::size_t worth_of(const std::string& category, const std::vector<std::string>& lowest_first) {
    return static_cast<std::size_t>(std::ranges::find(lowest_first, category) -
                                    lowest_first.begin());
}

std::optional<when_full> parse_when_full(std::string_view text) {
    if (text == "reject") return when_full::reject;
    if (text == "drop_oldest") return when_full::drop_oldest;
    if (text == "drop_category") return when_full::drop_category;
    return std::nullopt;
}

result<std::vector<std::string>> read_names(std::string_view list) {
    std::vector<std::string> names;
    while (!list.empty()) {
        auto name = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), name.size() + 1));
        while (name.starts_with(' ')) name.remove_prefix(1);
        while (name.ends_with(' ')) name.remove_suffix(1);
        if (!is_forward_category(name))
            return fail(error_code::invalid_configuration,
                        "forward.drop_order has '{}', which is not a category; write their names "
                        "with commas between them, the least worth first",
                        clean_utf8(name, 100));
        names.emplace_back(name);
    }
    return names;
}

/// The whole is over its cap: the categories that are worth least go first.
void add_by_worth(std::vector<drop_wish>& to, amount excess, const buffer_rules& rules,
                  const std::vector<forward_total>& held) {
    std::multimap<std::size_t, const forward_total*> by_worth;
    for (const auto& each : held)
        by_worth.emplace(worth_of(each.category, rules.lowest_first), &each);
    for (const auto& [worth, each] : by_worth) {
        const auto there = held_by(*each);
        drop_wish wish{.category = each->category,
                       .messages = std::clamp<std::int64_t>(excess.messages, 0, there.messages),
                       .bytes = std::clamp<std::int64_t>(excess.bytes, 0, there.bytes),
                       .why = std::string(over_whole)};
        excess.take(wish);
        if (wish.messages > 0 || wish.bytes > 0) to.push_back(std::move(wish));
    }
}

}  // namespace

bool buffer_rules::any() const {
    const auto limits = [](const buffer_cap& one) { return one != buffer_cap{}; };
    return limits(whole) ||
           std::ranges::any_of(categories, [&](const auto& each) { return limits(each.second); });
}

result<> check_cap(const buffer_cap& one, std::string_view of) {
    if (one.messages >= 0 && one.bytes >= 0 && one.age.count() >= 0) return {};
    return fail(error_code::invalid_configuration,
                "max_messages, max_bytes and max_age of {} are not negative; 0 is without a limit",
                of);
}

result<buffer_rules> read_buffer_rules(const feature_settings& said) {
    buffer_rules rules;
    rules.whole = {.messages = said.get<std::int64_t>("max_messages"),
                   .bytes = said.get<std::int64_t>("max_bytes"),
                   .age = said.get<std::chrono::milliseconds>("max_age")};
    POSTHORN_TRY(check_cap(rules.whole, "[forward]"));
    const auto& then = said.get<std::string>("when_full");
    const auto what = parse_when_full(then);
    if (!what)
        return fail(error_code::invalid_configuration,
                    "forward.when_full is '{}'; write \"reject\", \"drop_oldest\" or "
                    "\"drop_category\"",
                    clean_utf8(then, 100));
    rules.then = *what;
    const auto& order = said.get<std::string>("drop_order");
    POSTHORN_LET(names, read_names(order == "none" ? "" : order));
    rules.lowest_first = std::move(names);
    if (rules.then == when_full::drop_category && rules.lowest_first.empty())
        return fail(error_code::invalid_configuration,
                    "forward.when_full is drop_category; name the categories in "
                    "forward.drop_order, the least worth first");
    return rules;
}

std::vector<drop_wish> wishes_of(const buffer_rules& rules, std::vector<forward_total> held) {
    std::vector<drop_wish> all;
    if (rules.then == when_full::reject) return all;
    for (auto& each : held) {
        const auto cap = rules.categories.find(each.category);
        if (cap == rules.categories.end()) continue;
        const auto excess = excess_of(held_by(each), cap->second);
        if (excess.is_none()) continue;
        all.push_back({.category = each.category,
                       .messages = excess.messages,
                       .bytes = excess.bytes,
                       .why = "dropped: the cap of its category is reached"});
        each.waiting -= excess.messages;
        each.bytes -= excess.bytes;
    }
    const auto excess = excess_of(held_by_all(held), rules.whole);
    if (excess.is_none()) return all;
    if (rules.then == when_full::drop_category)
        add_by_worth(all, excess, rules, held);
    else
        all.push_back(
            {.messages = excess.messages, .bytes = excess.bytes, .why = std::string(over_whole)});
    return all;
}

std::size_t to_drop(const drop_wish& wish, std::span<const held_work> oldest) {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < oldest.size(); ++i) {
        if (static_cast<std::int64_t>(i) >= wish.messages && bytes >= wish.bytes) return i;
        bytes += oldest[i].bytes;
    }
    return oldest.size();
}

std::vector<std::string> full_ones(const buffer_rules& rules,
                                   const std::vector<forward_total>& held) {
    std::vector<std::string> names;
    if (is_full(held_by_all(held), rules.whole)) names.emplace_back();
    for (const auto& each : held) {
        const auto cap = rules.categories.find(each.category);
        if (cap != rules.categories.end() && is_full(held_by(each), cap->second))
            names.push_back(each.category);
    }
    return names;
}

}  // namespace posthorn
