#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <posthorn/contract.hpp>

/// Which signals a workflow waits for, as data:
///
///     f.wait(the<&decided::order_id> == o.id && the<&decided::level> >= 2)
///
/// Equalities become a key by which a signal finds who waits for it; the other comparisons are a
/// filter. Both are stored, so that no workflow is loaded to match, and people can read them.
namespace posthorn {
namespace detail {

/// How a field is compared, whatever the text in which it travels: `1e3` is 1000, and a UUID in
/// capitals is the same one.
enum class match_type : std::uint8_t {
    text,
    integer,
    natural,
    number,
    boolean,
    id,
    time,
    duration
};
enum class match_operator : std::uint8_t { equal, unequal, less, at_most, greater, at_least };

/// One comparison. Its value is JSON as Posthorn writes it, which has one form for one value.
struct match_term {
    std::string field;  // As it travels.
    match_type type{};
    match_operator op{};
    std::string value;
    bool operator==(const match_term&) const = default;
};

template <class T>
struct match_field {
    using type = T;
};
template <class T>
struct match_field<std::optional<T>> {
    using type = T;
};

template <class T>
consteval match_type match_type_of() {
    if constexpr (std::same_as<T, bool>)
        return match_type::boolean;
    else if constexpr (json_integer<T>)
        return std::is_signed_v<T> ? match_type::integer : match_type::natural;
    else if constexpr (json_real<T>)
        return match_type::number;
    else if constexpr (std::same_as<T, uuid>)
        return match_type::id;
    else if constexpr (is_time<T>)
        return match_type::time;
    else if constexpr (is_duration<T>)
        return match_type::duration;
    else
        return match_type::text;
}

template <class T>
concept match_value =
    std::same_as<T, std::string> || std::same_as<T, bool> || json_integer<T> || json_real<T> ||
    described_enum<T> || is_time<T> || is_duration<T> || std::same_as<T, uuid>;
/// Those that have an order, which is that of their values, not of their texts.
template <class T>
concept ordered_match_value =
    match_value<T> && !std::same_as<T, bool> && !described_enum<T> && !std::same_as<T, uuid>;

template <auto Member>
consteval std::string_view spelled_member() {
    constexpr std::string_view text = __PRETTY_FUNCTION__;  // "… [Member = &decided::order_id]"
    return last_name_before(text, text.rfind(']'));
}
template <auto Member>
using spelled_field_name =
    camel_case<fixed_string<spelled_member<Member>().size() + 1>(spelled_member<Member>())>;

/// Under which name a macro describes it; empty if it does not.
template <auto Member, class Field>
inline constexpr std::string_view given_to{};
template <auto Member, class Name>
inline constexpr std::string_view given_to<Member, field<Member, Name>> = Name::view();

/// Under which name a field of a message travels.
template <auto Member>
consteval std::string_view travelling_name() {
    using owner = typename member_of<decltype(Member)>::owner;
    std::string_view found;
    [&]<class... Items>(type_list<Items...>) {
        ((found = given_to<Member, Items>.empty() ? found : given_to<Member, Items>), ...);
        // A plain aggregate's fields have the names that they have in the source.
        if (found.empty())
            ((found = Items::name == spelled_field_name<Member>::view() ? Items::name : found),
             ...);
    }(fields_of<owner>{});
    return found;
}

}  // namespace detail

/// Signals of one kind whose fields are as told.
template <class T>
class match {
public:
    using message_type = T;

    match() = default;
    explicit match(detail::match_term term) { terms_.push_back(std::move(term)); }

    [[nodiscard]] friend match operator&&(match left, match right) {
        for (auto& term : right.terms_) left.terms_.push_back(std::move(term));
        return left;
    }

    [[nodiscard]] const std::vector<detail::match_term>& terms() const noexcept { return terms_; }

private:
    std::vector<detail::match_term> terms_;
};

namespace detail {

template <auto Member>
struct named_field {
    using owner = typename member_of<decltype(Member)>::owner;
    using value = typename match_field<typename member_of<decltype(Member)>::value>::type;

    template <class Value>
    static consteval bool check(bool needs_order) {
        static_assert(match_value<value>,
                      "posthorn: signals are matched by fields that are text, numbers, bool, "
                      "enumerations, chrono or posthorn::uuid");
        if constexpr (!match_value<value>) {
            return false;
        } else {
            constexpr bool fits =
                becomes<Value, value> || (json_integer<Value> && json_integer<value>);
            static_assert(fits,
                          "posthorn: this value is of another type than the field it is compared "
                          "with");
            return fits && (!needs_order || ordered_match_value<value>);
        }
    }

    template <match_operator Op, class Value>
    static match<owner> compared(const Value& with) {
        constexpr bool needs_order = Op != match_operator::equal && Op != match_operator::unequal;
        static_assert(!needs_order || !match_value<value> || ordered_match_value<value>,
                      "posthorn: this field has no order; compare it with == or !=");
        if constexpr (check<Value>(needs_order)) {
            if constexpr (json_integer<Value> && json_integer<value>)
                if (!std::in_range<value>(with))
                    throw error(error_code::invalid_argument,
                                std::string(travelling_name<Member>())
                                    .append(" is compared with a number that it cannot hold"));
            return match<owner>(match_term{.field = std::string(travelling_name<Member>()),
                                           .type = match_type_of<value>(),
                                           .op = Op,
                                           .value = encode<value>(static_cast<value>(with))});
        } else {
            return {};
        }
    }

    template <class Value>
    friend match<owner> operator==(named_field, const Value& with) {
        return compared<match_operator::equal>(with);
    }
    template <class Value>
    friend match<owner> operator!=(named_field, const Value& with) {
        return compared<match_operator::unequal>(with);
    }
    template <class Value>
    friend match<owner> operator<(named_field, const Value& with) {
        return compared<match_operator::less>(with);
    }
    template <class Value>
    friend match<owner> operator<=(named_field, const Value& with) {
        return compared<match_operator::at_most>(with);
    }
    template <class Value>
    friend match<owner> operator>(named_field, const Value& with) {
        return compared<match_operator::greater>(with);
    }
    template <class Value>
    friend match<owner> operator>=(named_field, const Value& with) {
        return compared<match_operator::at_least>(with);
    }
};

/// What a wait stores, as one JSON array: `[["orderId","==","text","o1"],…]`.
void encode_terms(std::string& to, const std::vector<match_term>& terms);

}  // namespace detail

/// A field of a signal: `the<&decided::order_id> == o.id`.
template <auto Member>
inline constexpr detail::named_field<Member> the{};

}  // namespace posthorn
