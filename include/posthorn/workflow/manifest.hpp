#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <posthorn/contract.hpp>
#include <posthorn/json/constant.hpp>
#include <posthorn/json/schema.hpp>
#include <posthorn/service.hpp>

/// What a program says of its workflows in notes that stand in the file: the names and schemas of
/// what they call, wait for and take. An engine that is given a binary reads them without running it.
namespace posthorn {

template <class R>
class workflow;
template <class State>
class flow;

namespace detail {

/// The protocol that a binary of workflows and its engine speak.
inline constexpr unsigned workflow_abi = 1;

enum class note_kind : std::uint32_t {
    binary = 1,   // {name, version, abi}
    workflow,     // {name, version, state, arguments: [schema], result}
    call,         // A service as it is published, with the one message.
    wait,         // {name, request}
    receive,      // {name, request, response}
    linked_only,  // {uses}: what runs in a program alone.
};

/// As ELF has notes: each part to a whole number of four bytes.
template <std::size_t Size>
struct program_note {
    std::uint32_t name_size = sizeof("Posthorn");
    std::uint32_t text_size = Size;
    note_kind kind{};
    std::array<char, 12> name{"Posthorn"};
    std::array<char, (Size + 3) / 4 * 4> text{};
};

// GCC gives what a template makes no section of its own; binaries are built with Clang, and
// `posthorn_workflow_binary` says so.
#if defined(__clang__)
#define POSTHORN_NOTE_SECTION [[gnu::section(".note.posthorn"), gnu::used, gnu::retain]]
#else
#define POSTHORN_NOTE_SECTION
#endif

template <note_kind Kind, class Write>
POSTHORN_NOTE_SECTION alignas(4) inline constexpr auto note_in_program = [] {
    constexpr std::size_t size = [] {
        constant_writer counted;
        Write{}(counted);
        return counted.size();
    }();
    program_note<size> made{.kind = Kind};
    constant_writer to(made.text.data());
    Write{}(to);
    return made;
}();

#undef POSTHORN_NOTE_SECTION

/// From a function that is compiled: the note is in the program.
template <note_kind Kind, class Write>
void leave_note() noexcept {
    static_cast<void>(&note_in_program<Kind, Write>);
}

template <class T>
constexpr void write_schema_or_null(constant_writer& to) {
    if constexpr (std::is_void_v<T>)
        to.null();
    else
        write_whole_schema<T>(to, {});
}

template <class Service, class Command>
struct written_call {
    constexpr void operator()(constant_writer& to) const {
        to.open('{');
        to.plain_key("name");
        to.string(Service::name);
        to.plain_key("version");
        to.natural(Service::version);
        to.plain_key("interface");
        to.string(Service::versioned);
        to.plain_key("messages");
        to.open('[');
        write_contract<Service, Command>(to);
        to.close(']');
        to.close('}');
    }
};

/// A signal or a Command that comes to a workflow. `Name` gives the name that it has here.
template <class Name, class T>
struct written_arrival {
    constexpr void operator()(constant_writer& to) const {
        to.open('{');
        to.plain_key("name");
        to.string(Name::view());
        to.plain_key("request");
        write_whole_schema<T>(to, endpoint_of<T>);
        to.plain_key("response");
        write_schema_or_null<response_of<T>>(to);
        to.close('}');
    }
};

template <fixed_string What>
struct written_use {
    constexpr void operator()(constant_writer& to) const {
        to.open('{');
        to.plain_key("uses");
        to.string(What.view());
        to.close('}');
    }
};

template <class Function>
struct workflow_schemas;
template <class R, class State, class... Args>
struct workflow_schemas<workflow<R> (*)(flow<State>&, Args...)> {
    static constexpr void write(constant_writer& to) {
        to.plain_key("state");
        write_whole_schema<State>(to, {});
        to.plain_key("arguments");
        to.open('[');
        ((to.element(), write_whole_schema<Args>(to, {})), ...);
        to.close(']');
        to.plain_key("result");
        write_schema_or_null<R>(to);
    }
};

template <class Function, fixed_string Name, unsigned Version>
struct written_workflow {
    constexpr void operator()(constant_writer& to) const {
        to.open('{');
        to.plain_key("name");
        to.string(Name.view());
        to.plain_key("version");
        to.natural(Version);
        workflow_schemas<Function>::write(to);
        to.close('}');
    }
};

template <fixed_string Name, fixed_string Version>
struct written_binary {
    constexpr void operator()(constant_writer& to) const {
        to.open('{');
        to.plain_key("name");
        to.string(Name.view());
        to.plain_key("version");
        to.string(Version.view());
        to.plain_key("abi");
        to.natural(workflow_abi);
        to.close('}');
    }
};

}  // namespace detail
}  // namespace posthorn

/// The name and version of a binary of workflows: once in it, which `posthorn_workflow_binary` does.
#define POSTHORN_WORKFLOW_BINARY(name, version)                                     \
    [[maybe_unused]] static const auto* const posthorn_binary_note =                \
        &::posthorn::detail::note_in_program<::posthorn::detail::note_kind::binary, \
                                             ::posthorn::detail::written_binary<name, version>>;
