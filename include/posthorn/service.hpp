#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <posthorn/contract.hpp>
#include <posthorn/json/constant.hpp>

namespace posthorn {
namespace detail {

/// What the node knows of a service that is offered. Everything in it is a constant.
struct service_info {
    std::string_view name;  // With its version: `emp/v1`.
    std::span<const std::string_view> endpoints;
    std::size_t (*index_of)(std::string_view endpoint) noexcept;  // Their number if unknown.
    std::string_view contract{};  // What is published of it, as JSON.
};

/// A service that is called.
struct service_use {
    std::string_view name;
    std::string destination;
};

consteval std::size_t digits(unsigned number) { return number < 10 ? 1 : 1 + digits(number / 10); }

/// `emp/v1` and, with the name of a message, `emp/v1/Hire`, as constants.
template <fixed_string Name, unsigned Version, class Endpoint = given_name<"">>
struct versioned_name {
    static constexpr auto text = [] {
        constexpr auto tail = Endpoint::view();
        std::array<char,
                   Name.view().size() + 2 + digits(Version) + (tail.empty() ? 0 : 1 + tail.size())>
            made{};
        auto* at = std::ranges::copy(Name.view(), made.data()).out;
        at = std::ranges::copy(std::string_view("/v"), at).out;
        at += digits(Version);
        auto* digit = at;
        for (auto rest = Version, left = unsigned{digits(Version)}; left > 0; --left, rest /= 10)
            *--digit = static_cast<char>('0' + rest % 10);
        if (!tail.empty()) {
            *at++ = '/';
            std::ranges::copy(tail, at);
        }
        return made;
    }();
    static constexpr std::string_view view() noexcept { return {text.data(), text.size()}; }
};

template <class Message>
struct endpoint_name {
    static constexpr std::string_view view() noexcept {
        if constexpr (message_contract<Message>)
            return endpoint_of<Message>;
        else
            return "?";  // The service refuses it.
    }
};

constexpr std::string_view name_of(message_type type) noexcept {
    switch (type) {
        case message_type::signal: return "Signal";
        case message_type::command: return "Command";
        case message_type::push_call: return "PushCall";
        case message_type::response: break;
    }
    return "Response";
}

/// One message of a service, as it is published.
template <class Service, class Message>
constexpr void write_contract(constant_writer& to) {
    to.element();
    to.open('{');
    to.plain_key("name");
    to.string(endpoint_of<Message>);
    to.plain_key("endpoint");
    to.string(Service::template endpoint<Message>);
    to.plain_key("type");
    to.string(name_of(contract_of<Message>::type));
    to.plain_key("request");
    write_whole_schema<Message>(to, endpoint_of<Message>);
    to.plain_key("response");
    if constexpr (std::is_void_v<response_of<Message>>)
        to.null();
    else
        write_whole_schema<response_of<Message>>(to, {});
    to.close('}');
}

constexpr std::uint32_t hash_name(std::string_view text, std::uint32_t seed) noexcept {
    std::uint32_t hash = 2166136261U ^ seed;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    return hash ^ hash >> 15;
}

/// Finds a name among constant ones: one hash, one look, one comparison, as a `switch` would.
template <std::size_t Count>
class name_switch {
public:
    /// The names differ, or nothing will be found: looking for a seed would go on for ever.
    constexpr name_switch(const std::array<std::string_view, Count>& names, bool differ)
        : names_(names) {
        while (differ && !fill() && seed_ < 1000) ++seed_;
    }

    [[nodiscard]] constexpr std::size_t find(std::string_view name) const noexcept {
        const std::size_t slot = slots_[hash_name(name, seed_) % slots];
        return slot < Count && names_[slot] == name ? slot : Count;
    }

private:
    static constexpr std::size_t slots = std::max<std::size_t>(1, Count* Count / 2 + Count);

    constexpr bool fill() {
        slots_.fill(static_cast<std::uint16_t>(Count));
        for (std::size_t i = 0; i < Count; ++i) {
            auto& slot = slots_[hash_name(names_[i], seed_) % slots];
            if (slot != Count) return false;
            slot = static_cast<std::uint16_t>(i);
        }
        return true;
    }

    std::array<std::string_view, Count> names_;
    std::array<std::uint16_t, slots> slots_{};
    std::uint32_t seed_ = 0;
};

template <class... Messages>
consteval bool endpoints_differ() {
    std::array<std::string_view, sizeof...(Messages)> names{endpoint_of<Messages>...};
    std::ranges::sort(names);
    return std::ranges::adjacent_find(names) == names.end();
}

template <fixed_string Name, class... Messages>
consteval bool check_service() {
    static_assert(!Name.view().empty(), "posthorn: a service needs a name; this one's is empty");
    if constexpr ((check_message<Messages>() & ... & !Name.view().empty())) {
        static_assert(endpoints_differ<Messages...>(),
                      "posthorn: two messages of this service have the same name; rename one, or "
                      "move it to another service");
        return endpoints_differ<Messages...>();
    } else {
        return false;
    }
}

}  // namespace detail

/// Messages under the name and version of the service that handles them:
///
///     using emp = posthorn::service<"emp", 1, hire, dismiss, employee_moved>;
///
/// `posthorn::offer<emp>` handles them and `posthorn::proxy<emp>` sends them. The version is part
/// of the endpoints (`emp/v1/Hire`), so that a node can offer two versions side by side.
template <fixed_string Name, unsigned Version, class... Messages>
struct service {
    /// Otherwise the build has stopped, and nothing more is to be said about the service.
    static constexpr bool is_sound = detail::check_service<Name, Messages...>();

    static constexpr std::string_view name = detail::given_name<Name>::view();
    static constexpr unsigned version = Version;
    static constexpr std::string_view versioned = detail::versioned_name<Name, Version>::view();
    static constexpr std::size_t size = sizeof...(Messages);
    static constexpr std::array<std::string_view, size> endpoints{
        detail::versioned_name<Name, Version, detail::endpoint_name<Messages>>::view()...};

    template <class T>
    static constexpr bool has = (std::same_as<T, Messages> || ...);

    /// Where a message stands in the service.
    template <class T>
    static consteval std::size_t position() {
        constexpr std::array same{std::same_as<T, Messages>...};
        return static_cast<std::size_t>(std::ranges::find(same, true) - same.begin());
    }
    template <class T>
    static constexpr std::string_view endpoint = endpoints[position<T>()];

    /// The position of an endpoint, or `size`. Allocates nothing.
    static constexpr std::size_t index_of(std::string_view endpoint) noexcept {
        return routes.find(endpoint);
    }

    /// Calls `each.template operator()<Message>()` for each message.
    template <class Each>
    static void for_each(Each&& each) {
        (each.template operator()<Messages>(), ...);
    }

    /// Names, types and JSON Schemas of all messages, as one JSON object. It stands in the program
    /// as text, where `posthorn contracts export PROGRAM` finds it.
    [[nodiscard]] static constexpr std::string_view contract() noexcept {
        if constexpr (is_sound) {
            const auto& text = detail::embedded_text<written_contract>;
            return std::string_view(text.data(), text.size() - 1)
                .substr(detail::contract_begin.size());
        } else {
            return {};
        }
    }

    /// The JSON Schemas of all payloads, as one JSON object by endpoint.
    [[nodiscard]] static std::string schemas() {
        std::string text = "{";
        for_each([&]<class T>() {
            if constexpr (!is_sound) return;
            if (text.size() > 1) text += ',';
            text.append("\"").append(endpoint<T>).append("\":").append(schema_of<T>());
        });
        return text += '}';
    }

private:
    struct written_contract {
        constexpr void operator()(detail::constant_writer& to) const {
            to.open('{');
            to.plain_key("name");
            to.string(name);
            to.plain_key("version");
            to.natural(Version);
            to.plain_key("interface");
            to.string(versioned);
            to.plain_key("messages");
            to.open('[');
            (detail::write_contract<service, Messages>(to), ...);
            to.close(']');
            to.close('}');
        }
    };

    static constexpr detail::name_switch<size> routes{endpoints, is_sound};
    static_assert((static_cast<void>(is_sound), true));
};

}  // namespace posthorn
