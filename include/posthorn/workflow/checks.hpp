#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include <posthorn/contract.hpp>
#include <posthorn/workflow/core.hpp>

/// What the compiler is asked of signals, Commands, results and names that a workflow uses.
namespace posthorn::detail {

template <class T>
consteval bool check_awaited_signal() {
    if constexpr (!check_message<T>()) {
        return false;
    } else {
        constexpr bool is_told = contract_of<T>::type == message_type::signal ||
                                 contract_of<T>::type == message_type::push_call;
        static_assert(is_told,
                      "posthorn: a workflow waits for signals and push calls; a Command is for "
                      "the handler of an endpoint");
        return is_told;
    }
}

template <class Service, class T>
consteval std::string_view signal_name() {
    if constexpr (std::is_void_v<Service>)
        return endpoint_of<T>;
    else
        return Service::template endpoint<T>;
}
/// Lets the node take the signal in before any workflow waits for it.
template <class Service, class T>
inline const awaited_signal awaited_by_program{signal_name<Service, T>()};

/// The name for what stands in the program of it.
template <class Service, class T>
struct arrival_name {
    static consteval std::string_view view() { return signal_name<Service, T>(); }
};

template <class T>
consteval bool check_received_command() {
    if constexpr (!check_message<T>()) {
        return false;
    } else {
        constexpr bool is_command = contract_of<T>::type == message_type::command;
        static_assert(is_command,
                      "posthorn: a workflow receives Commands, which it answers; a signal is "
                      "waited for with f.wait");
        return is_command;
    }
}
/// Lets the node take the Command in before any workflow receives it.
template <class Service, class T>
inline const awaited_signal received_by_program{signal_name<Service, T>(), true};

/// What works on the database, or on threads, needs the program that has them.
template <class Work>
consteval bool check_linked() {
#ifdef POSTHORN_IN_WORKFLOW_BINARY
    constexpr bool is_linked = sizeof(Work) == 0;
    static_assert(is_linked,
                  "posthorn: transact and run need a workflow that is linked into a program; one "
                  "that is deployed as a binary calls a service for what is outside of it");
    return is_linked;
#else
    return true;
#endif
}

template <class Result>
consteval bool check_kept_result() {
    if constexpr (std::is_void_v<Result>) {
        return true;
    } else {
        static_assert(json_type<Result>,
                      "posthorn: what this function gives is recorded, and it cannot be "
                      "serialised; give nothing, or a described type");
        return json_type<Result>;
    }
}

template <class Result, class Function, class... Args>
std::string recorded_result(Function& call, Args&... args) {
    if constexpr (std::is_void_v<Result>) {
        call(args...);
        return "null";
    } else {
        return encode<Result>(call(args...));
    }
}

/// The name of a patch: a constant of the program.
class patch_name {
public:
    // NOLINTNEXTLINE(google-explicit-constructor): `f.patched("fees of 2027")`.
    consteval patch_name(const char* text) : text_(text) {}
    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

private:
    std::string_view text_;
};

}  // namespace posthorn::detail
