#pragma once

#include <concepts>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <posthorn/error.hpp>
#include <posthorn/json/decode.hpp>
#include <posthorn/json/encode.hpp>
#include <posthorn/json/schema.hpp>
#include <posthorn/message.hpp>
#include <posthorn/transaction.hpp>

/// Messages described once. The compiler writes the serialiser, the typed `send` and `handle`, and
/// the JSON Schema; what cannot work, it refuses.
///
///     struct order_approved {
///         using contract = posthorn::as_signal<"OrderApproved">;
///         std::string order_id, approved_by;
///     };
///
///     struct receipt { std::string number; };
///     struct charge {
///         using contract = posthorn::as_command<"Charge", receipt>;
///         std::string order_id;
///         std::int64_t cents;
///     };
///
/// or from outside, where a struct is not to be touched or its fields are to have other names:
///
///     struct order_cancelled { std::string order_id; int why; };
///     POSTHORN_SIGNAL(order_cancelled, "OrderCancelled", order_id, (why, "reason"))
namespace posthorn {
namespace detail {

struct contract_base {};

template <message_type Type, fixed_string Name, class Response>
struct contract_info : contract_base {
    static constexpr message_type type = Type;
    static constexpr std::string_view endpoint = given_name<Name>::view();
    using response = Response;
};

template <class T>
concept macro_contract = requires(const T* any) { posthorn_contract(any); };

template <class T>
struct contract_found {};
template <class T>
    requires std::derived_from<typename T::contract, contract_base>
struct contract_found<T> {
    using type = typename T::contract;
};
template <macro_contract T>
struct contract_found<T> {
    using type = decltype(posthorn_contract(static_cast<const T*>(nullptr)));
};

}  // namespace detail

/// Something happened.
template <fixed_string Name>
using as_signal = detail::contract_info<message_type::signal, Name, void>;
/// Something is to be done, and answered.
template <fixed_string Name, class Response = void>
using as_command = detail::contract_info<message_type::command, Name, Response>;
/// A call was made that others wait for.
template <fixed_string Name>
using as_push_call = detail::contract_info<message_type::push_call, Name, void>;

/// Types described as a message.
template <class T>
concept message_contract = requires { typename detail::contract_found<T>::type; };

template <class T>
using contract_of = typename detail::contract_found<T>::type;

/// What a message's handler answers: `void` for all but Commands.
template <message_contract T>
using response_of = typename contract_of<T>::response;

/// The name of the handler that a message asks for.
template <message_contract T>
inline constexpr std::string_view endpoint_of = contract_of<T>::endpoint;

namespace detail {

template <class T>
consteval bool check_response();

template <class T>
consteval bool check_name() {
    static_assert(!endpoint_of<T>.empty(), "posthorn: a message needs a name; this one's is empty");
    return !endpoint_of<T>.empty();
}

template <class T>
consteval bool check_message() {
    static_assert(message_contract<T>,
                  "posthorn: this type is not a message; give it a contract = "
                  "posthorn::as_signal<\"Name\">, or describe it with POSTHORN_SIGNAL, "
                  "POSTHORN_COMMAND or POSTHORN_PUSH_CALL, in its own namespace");
    if constexpr (!message_contract<T>)
        return false;
    else if constexpr (macro_contract<T>)
        return json_type<T>;  // If not, the macro has said why.
    else
        return check_name<T>() && check_type<T>() && check_response<T>();
}

/// A described type's payload and, of a Command, its response.
template <class T>
consteval bool check_payload() {
    if constexpr (macro_described<T>)
        return check_type<T>();
    else
        return false;  // It is not where it would be found, which has been said.
}

template <class Command>
inline constexpr bool response_can_travel = json_type<response_of<Command>>;

template <class T>
consteval bool check_response() {
    if constexpr (!message_contract<T>) {
        return false;
    } else if constexpr (std::is_void_v<response_of<T>>) {
        return true;
    } else if constexpr (described<typename innermost<response_of<T>>::type>) {
        return check_type<response_of<T>>();
    } else {
        static_assert(
            response_can_travel<T>,
            "posthorn: the response of this Command cannot be serialised; make it a plain "
            "aggregate, describe it with POSTHORN_STRUCT or POSTHORN_ENUM, or use text, "
            "numbers, bool, optional, vector, map, variant, chrono, posthorn::uuid or "
            "posthorn::raw_json");
        return response_can_travel<T>;
    }
}

/// What a typed send says.
template <message_contract T>
send_request request_for(std::string_view destination, std::string_view endpoint, const T& payload,
                         send_options options) {
    options.type = contract_of<T>::type;
    if constexpr (requires { posthorn_id(payload); })
        if (!options.id && !posthorn_id(payload).is_nil()) options.id = posthorn_id(payload);
    return {.destination = destination,
            .endpoint = endpoint,
            .payload = encode(payload),
            .options = std::move(options),
            .described = true};
}
template <message_contract T>
send_request request_for(std::string_view destination, const T& payload, send_options options) {
    return request_for(destination, endpoint_of<T>, payload, std::move(options));
}

/// A payload that does not fit will not fit next time: the sender is to bury it.
template <class T>
T decode_received(std::string_view payload) {
    try {
        return decode<T>(payload);
    } catch (const std::exception& misfit) {
        throw permanent(misfit.what());
    }
}

/// A response, of which an error says to which Command it is.
template <class Response>
Response decode_response(std::string_view endpoint, std::string_view payload) {
    if constexpr (!json_type<Response>)
        std::terminate();  // The build has stopped.
    else
        try {
            return decode<Response>(payload);
        } catch (const error& misfit) {
            throw error(misfit.code(), std::string("the response to ")
                                           .append(endpoint)
                                           .append(" does not fit: ")
                                           .append(misfit.what()));
        }
}

/// The payload of a response: `null` answers a Command that has nothing to say, so that the caller
/// learns that it was carried out.
template <message_contract T, class Call>
std::string respond(Call&& call) {
    using response = response_of<T>;
    if constexpr (std::is_void_v<response>) {
        call();
        return contract_of<T>::type == message_type::command ? "null" : "";
    } else {
        return encode<response>(call());
    }
}

/// Whether a value becomes another type without losing anything, as between braces: no fraction is
/// dropped, and a pointer is not a `bool`.
template <class From, class To>
inline constexpr bool becomes = std::is_convertible_v<From, To> &&
                                requires { std::type_identity_t<To[]>{std::declval<From>()}; };
template <class From, class To>
inline constexpr bool becomes<std::optional<From>, std::optional<To>> = becomes<From, To>;
template <class From, class To>
inline constexpr bool becomes<From, std::optional<To>> =
    std::same_as<From, std::nullopt_t> || becomes<From, To>;
template <class Same>
inline constexpr bool becomes<Same, Same> = true;
template <class Same>
inline constexpr bool becomes<std::optional<Same>, std::optional<Same>> = true;

template <class T, class Result>
concept fits_response = (std::is_void_v<response_of<T>> && std::is_void_v<Result>) ||
                        (!std::is_void_v<response_of<T>> && !std::is_void_v<Result> &&
                         becomes<std::remove_cvref_t<Result>, response_of<T>>);

template <class T, class Handler, class... Args>
consteval bool check_handler() {
    if constexpr (!check_message<T>() || !check_response<T>()) {
        return false;
    } else if constexpr (!std::invocable<Handler&, Args...>) {
        static_assert(std::invocable<Handler&, Args...>,
                      "posthorn: the handler does not take its message; it must be callable with "
                      "(posthorn::context&, const T&), or with (const T&) if it is external");
        return false;
    } else {
        using result = std::invoke_result_t<Handler&, Args...>;
        static_assert(fits_response<T, result>,
                      "posthorn: the handler does not answer with the response of its message; "
                      "return what POSTHORN_COMMAND names, and nothing from a signal or push call");
        return fits_response<T, result>;
    }
}

template <class T, class Handler>
consteval bool check_external() {
    if constexpr (std::invocable<Handler&, const message&, const T&>)
        return check_handler<T, Handler, const message&, const T&>();
    else
        return check_handler<T, Handler, const T&>();
}

template <class T>
consteval bool check_command() {
    if constexpr (!check_message<T>()) {
        return false;
    } else {
        constexpr bool is_command = contract_of<T>::type == message_type::command;
        static_assert(is_command,
                      "posthorn: only a Command is answered; describe it with POSTHORN_COMMAND, or "
                      "use send");
        return is_command;
    }
}

template <class T, class Handler>
consteval bool check_response_handler() {
    if constexpr (!check_command<T>()) {
        return false;
    } else {
        constexpr bool fits = [] {
            if constexpr (std::is_void_v<response_of<T>>)
                return std::invocable<Handler&, context&>;
            else
                return std::invocable<Handler&, context&, const response_of<T>&>;
        }();
        static_assert(
            fits,
            "posthorn: the handler does not take the response of this Command; it must be "
            "callable with (posthorn::context&, const R&), where R is what "
            "POSTHORN_COMMAND names");
        return fits;
    }
}

/// `handler(context&, const T&)` as the node runs it.
template <class T, class Handler>
auto transactional(Handler handler) {
    return [call = std::move(handler)](context& with, const message& received) mutable {
        const auto payload = decode_received<T>(received.payload);
        return respond<T>([&] { return call(with, payload); });
    };
}

/// `handler(const T&)` or `handler(const message&, const T&)`, likewise.
template <class T, class Handler>
auto external(Handler handler) {
    return [call = std::move(handler)](const message& received) mutable {
        const auto payload = decode_received<T>(received.payload);
        return respond<T>([&] {
            if constexpr (std::invocable<Handler&, const message&, const T&>)
                return call(received, payload);
            else
                return call(payload);
        });
    };
}

template <class T>
response_of<T> decode_received_response(const message& received) {
    try {
        return decode_response<response_of<T>>(received.endpoint, received.payload);
    } catch (const error& misfit) {
        throw permanent(misfit.what());
    }
}

/// A handler of responses, likewise.
template <class T, class Handler>
auto response_handler(Handler handler) {
    return [call = std::move(handler)](context& with, const message& received) mutable {
        if constexpr (std::is_void_v<response_of<T>>)
            call(with);
        else
            call(with, decode_received_response<T>(received));
        return std::string{};
    };
}

}  // namespace detail

template <class T>
    requires(!std::convertible_to<const T&, std::string_view>)
uuid transaction::send(std::string_view destination, const T& payload, send_options options) {
    if constexpr (detail::check_message<T>())
        return do_send(detail::request_for(destination, payload, std::move(options)));
    else
        return {};
}

/// The JSON Schema of a message's payload.
template <message_contract T>
[[nodiscard]] std::string schema_of() {
    return json_schema<T>(endpoint_of<T>);
}

}  // namespace posthorn

#define POSTHORN_MESSAGE(type, kind, name, response, ...)                                     \
    POSTHORN_STRUCT(type __VA_OPT__(, ) __VA_ARGS__)                                          \
    POSTHORN_TELLS(                                                                           \
        posthorn_contract, type,                                                              \
        ::posthorn::detail::contract_info<::posthorn::message_type::kind, name, response>)    \
    static_assert(sizeof(name) > 1, "posthorn: a message needs a name; this one's is empty"); \
    static_assert((static_cast<void>(::posthorn::detail::check_payload<type>()), true));      \
    static_assert((static_cast<void>(::posthorn::detail::check_response<type>()), true));

/// Something happened: `POSTHORN_SIGNAL(type, "Name", fields…)`.
#define POSTHORN_SIGNAL(type, name, ...) \
    POSTHORN_MESSAGE(type, signal, name, void __VA_OPT__(, ) __VA_ARGS__)
/// Something is to be done, and answered: `POSTHORN_COMMAND(type, "Name", response, fields…)`.
#define POSTHORN_COMMAND(type, name, response, ...) \
    POSTHORN_MESSAGE(type, command, name, response __VA_OPT__(, ) __VA_ARGS__)
/// A call was made that others wait for: `POSTHORN_PUSH_CALL(type, "Name", fields…)`.
#define POSTHORN_PUSH_CALL(type, name, ...) \
    POSTHORN_MESSAGE(type, push_call, name, void __VA_OPT__(, ) __VA_ARGS__)
/// The field whose UUID is also the id under which the message is sent.
#define POSTHORN_ID(type, field) \
    [[maybe_unused]] inline const ::posthorn::uuid& posthorn_id(const type& of) { return of.field; }
