#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <posthorn/json/reader.hpp>
#include <posthorn/json/time.hpp>
#include <posthorn/json/types.hpp>

namespace posthorn {
namespace detail {

template <class T>
void decode_value(json_reader& from, T& value);

[[noreturn]] void fail_missing(const json_path& above, std::string_view name);
[[noreturn]] void fail_choice(const json_reader& at, const std::string_view* names,
                              std::size_t count);

template <class T>
void decode_integer(json_reader& from, T& value) {
    using limits = std::numeric_limits<T>;
    if constexpr (std::is_signed_v<T>)
        value = static_cast<T>(from.integer(limits::min(), limits::max()));
    else
        value = static_cast<T>(from.natural(limits::max()));
}

template <class T>
void decode_float(json_reader& from, T& value) {
    const double read = from.real();
    if constexpr (std::same_as<T, float>)
        if (read > std::numeric_limits<float>::max() || read < std::numeric_limits<float>::lowest())
            from.fail("is too large for this field");
    value = static_cast<T>(read);
}

template <class T>
void decode_enum(json_reader& from, T& value) {
    const auto name = from.string();
    constexpr const auto& names = item_names<enumerators_of<T>>;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] != name) continue;
        value = enumerator_values<enumerators_of<T>>[i];
        return;
    }
    fail_choice(from, names.data(), names.size());
}

/// Reads the fields of a struct, most often in the order in which they were written.
template <class T>
class struct_decoder {
public:
    static constexpr std::size_t count = fields_of<T>::size;

    explicit struct_decoder(T& to) : to_(to) {}

    void operator()(std::string_view key, json_reader& from) {
        const auto index = find(key);
        if (index == count) return from.skip();
        const auto bit = std::uint64_t{1} << index;
        if ((seen_ & bit) != 0) from.fail("is there twice");
        seen_ |= bit;
        next_ = index + 1;
        read(index, from, fields_of<T>{});
    }

    /// What is not there is empty, or missing.
    void end(const json_path& path) {
        const auto absent = every & ~seen_;
        if (absent == 0) return;
        const auto missing = required(fields_of<T>{}) & absent;
        if (missing != 0)
            fail_missing(path, names[static_cast<std::size_t>(std::countr_zero(missing))]);
        clear(absent, fields_of<T>{});
    }

private:
    static constexpr const auto& names = item_names<fields_of<T>>;
    static constexpr auto every = ~std::uint64_t{0} >> (64 - count);

    [[nodiscard]] std::size_t find(std::string_view key) const {
        if (next_ < count && names[next_] == key) return next_;
        for (std::size_t i = 0; i < count; ++i)
            if (names[i] == key) return i;
        return count;
    }

    template <class... Items>
    static consteval std::uint64_t required(type_list<Items...>) {
        std::uint64_t bits = 0;
        std::size_t index = 0;
        ((bits |= std::uint64_t{!is_optional<typename Items::value_type>} << index++), ...);
        return bits;
    }

    template <class... Items>
    void read(std::size_t index, json_reader& from, type_list<Items...>) {
        std::size_t at = 0;
        static_cast<void>(((index == at++ && (decode_value(from, Items::get(to_)), true)) || ...));
    }

    // The type's own default may be something else.
    template <class... Items>
    void clear(std::uint64_t absent, type_list<Items...>) {
        const auto one = [&]<class Field>(std::type_identity<Field>) {
            if constexpr (is_optional<typename Field::value_type>)
                if ((absent & 1) != 0) Field::get(to_).reset();
            absent >>= 1;
        };
        (one(std::type_identity<Items>{}), ...);
    }

    T& to_;
    std::uint64_t seen_ = 0;
    std::size_t next_ = 0;
};

template <class T>
void decode_struct(json_reader& from, T& value) {
    if constexpr (fields_of<T>::size == 0) {
        from.members([](std::string_view, json_reader& unknown) { unknown.skip(); });
    } else {
        struct_decoder<T> decoder(value);
        from.members(decoder);
        decoder.end(from.path());
    }
}

template <class T>
void decode_array(json_reader& from, T& values) {
    values.clear();
    from.elements([&](json_reader& element) {
        typename T::value_type value{};
        decode_value(element, value);
        values.push_back(std::move(value));
    });
}

template <class T>
void decode_map(json_reader& from, T& values) {
    values.clear();
    from.members([&](std::string_view key, json_reader& member) {
        const auto [at, is_new] = values.try_emplace(std::string(key));
        if (!is_new) member.fail("is there twice");
        decode_value(member, at->second);
    });
}

template <class... Items>
void decode_variant(json_reader& from, std::variant<Items...>& value) {
    static constexpr std::array<std::string_view, sizeof...(Items)> names{
        alternative_name<Items>()...};
    bool is_chosen = false;
    from.members([&](std::string_view key, json_reader& member) {
        if (std::exchange(is_chosen, true)) from.fail("has more than one alternative");
        const auto take = [&]<class Item>(std::type_identity<Item>) {
            if (key != alternative_name<Item>()) return false;
            decode_value(member, value.template emplace<Item>());
            return true;
        };
        if (!(take(std::type_identity<Items>{}) || ...))
            fail_choice(member, names.data(), names.size());
    });
    if (!is_chosen) from.fail("names no alternative");
}

template <class T>
void decode_time(json_reader& from, T& value) {
    const auto span = parse_time_text(from.string());
    if (!span) from.fail("is not a time such as 2026-02-14T12:00:00Z");
    const auto since = from_span<typename T::duration>(*span);
    if (!since) from.fail("is a time too fine or too far for this field");
    value = T(*since);
}

template <class T>
void decode_duration(json_reader& from, T& value) {
    const auto span = parse_duration_text(from.string());
    if (!span) from.fail("is not a duration such as PT1.5S");
    const auto read = from_span<T>(*span);
    if (!read) from.fail("is a duration too fine or too long for this field");
    value = *read;
}

template <class T>
void decode_value(json_reader& from, T& value) {
    if constexpr (std::same_as<T, std::string>) {
        value = from.string();
    } else if constexpr (std::same_as<T, bool>) {
        value = from.boolean();
    } else if constexpr (json_integer<T>) {
        decode_integer(from, value);
    } else if constexpr (json_real<T>) {
        decode_float(from, value);
    } else if constexpr (described_enum<T>) {
        decode_enum(from, value);
    } else if constexpr (is_time<T>) {
        decode_time(from, value);
    } else if constexpr (is_duration<T>) {
        decode_duration(from, value);
    } else if constexpr (std::same_as<T, uuid>) {
        const auto read = uuid::parse(from.string());
        if (!read) from.fail("is not a UUID");
        value = *read;
    } else if constexpr (std::same_as<T, raw_json>) {
        value.text = from.raw();
    } else if constexpr (std::same_as<T, std::monostate>) {
        if (!from.is_null()) from.fail("is not null");
    } else if constexpr (is_optional<T>) {
        if (from.is_null())
            value.reset();
        else
            decode_value(from, value.emplace());
    } else if constexpr (is_vector<T>) {
        decode_array(from, value);
    } else if constexpr (is_map<T>) {
        decode_map(from, value);
    } else if constexpr (is_variant<T>) {
        decode_variant(from, value);
    } else {
        decode_struct(from, value);
    }
}

}  // namespace detail

/// Reads a value from JSON. Members it does not know are ignored; one that is missing, wrong or
/// there twice is `error_code::invalid_payload`, which names its path: `items[2].sku`.
template <class T>
[[nodiscard]] T decode(std::string_view text) {
    T value{};
    if constexpr (detail::check_type<T>())
        json_reader::read(text, [&](json_reader& from) { detail::decode_value(from, value); });
    return value;
}

}  // namespace posthorn
