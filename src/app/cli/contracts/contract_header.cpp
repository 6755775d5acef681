#include "app/cli/contracts/contract_header.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

namespace posthorn::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t depth_max = 64;
constexpr std::size_t name_size_max = 255;
// The schemas come from outside; no service written by hand is as large as this.
constexpr std::size_t types_max = 10'000;
constexpr std::size_t text_size_max = std::size_t{8} << 20;

constexpr std::array<std::string_view, 97> keywords{
    "alignas",   "alignof",   "and",       "and_eq",        "asm",         "auto",
    "bitand",    "bitor",     "bool",      "break",         "case",        "catch",
    "char",      "char16_t",  "char32_t",  "char8_t",       "class",       "co_await",
    "co_return", "co_yield",  "compl",     "concept",       "const",       "const_cast",
    "consteval", "constexpr", "constinit", "continue",      "decltype",    "default",
    "delete",    "do",        "double",    "dynamic_cast",  "else",        "enum",
    "explicit",  "export",    "extern",    "false",         "float",       "for",
    "friend",    "goto",      "if",        "inline",        "int",         "long",
    "mutable",   "namespace", "new",       "noexcept",      "not",         "not_eq",
    "nullptr",   "operator",  "or",        "or_eq",         "private",     "protected",
    "public",    "register",  "requires",  "return",        "service",     "short",
    "signed",    "sizeof",    "static",    "static_assert", "static_cast", "std",
    "posthorn",  "struct",    "switch",    "template",      "this",        "thread_local",
    "throw",     "true",      "try",       "typedef",       "typeid",      "typename",
    "union",     "unsigned",  "using",     "virtual",       "void",        "volatile",
    "wchar_t",   "while",     "xor",       "xor_eq",        "errno",       "assert",
    "unix",
};

// Functions and types of C and of POSIX in lower case, as far as they could be a service's name.
constexpr auto c_names = std::to_array<std::string_view>(
    {"abort",     "abs",        "accept",  "access",     "acos",     "acct",     "alarm",
     "asin",      "atan",       "atexit",  "basename",   "bind",     "brk",      "bsearch",
     "calloc",    "cbrt",       "ceil",    "chdir",      "chmod",    "chown",    "chroot",
     "clearenv",  "clock",      "clone",   "close",      "connect",  "cos",      "cosh",
     "creat",     "crypt",      "ctime",   "daemon",     "difftime", "div",      "dup",
     "environ",   "erf",        "exec",    "exit",       "exp",      "fabs",     "fclose",
     "fcntl",     "feof",       "ferror",  "ffs",        "fgetc",    "flock",    "floor",
     "fma",       "fmax",       "fmin",    "fmod",       "fopen",    "fork",     "fread",
     "free",      "frexp",      "fseek",   "fstat",      "fsync",    "ftell",    "ftw",
     "fwrite",    "gamma",      "getc",    "getenv",     "getopt",   "getpid",   "gets",
     "gmtime",    "hypot",      "index",   "initgroups", "ioctl",    "isalpha",  "isatty",
     "iscntrl",   "isdigit",    "j0",      "j1",         "jn",       "kill",     "labs",
     "ldexp",     "ldiv",       "lgamma",  "link",       "linux",    "listen",   "localeconv",
     "localtime", "lockf",      "log",     "login",      "logout",   "logwtmp",  "lseek",
     "lstat",     "malloc",     "memchr",  "memcmp",     "memcpy",   "memmove",  "memset",
     "mkdir",     "mktime",     "mmap",    "modf",       "mount",    "nan",      "nanosleep",
     "nice",      "open",       "optarg",  "optind",     "pause",    "perror",   "pipe",
     "poll",      "pow",        "printf",  "profil",     "ptrace",   "putc",     "puts",
     "qsort",     "quick_exit", "raise",   "rand",       "random",   "read",     "realloc",
     "reboot",    "recv",       "remove",  "rename",     "rewind",   "rindex",   "rint",
     "rmdir",     "round",      "sbrk",    "scanf",      "select",   "send",     "setenv",
     "setjmp",    "shutdown",   "signal",  "signbit",    "sin",      "sinh",     "sleep",
     "socket",    "sprintf",    "sqrt",    "srand",      "stat",     "stderr",   "stdin",
     "stdout",    "strlen",     "strtol",  "swab",       "symlink",  "sync",     "syscall",
     "sysconf",   "system",     "tan",     "tanh",       "tell",     "tgamma",   "time",
     "timezone",  "tm",         "tolower", "toupper",    "trunc",    "truncate", "tzname",
     "umask",     "umount",     "uname",   "ungetc",     "unlink",   "usleep",   "utime",
     "wait",      "waitpid",    "write",   "y0",         "y1",       "yn"});

struct unusable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

const json::object& object_at(const json::object& in, std::string_view key) {
    const auto* const value = in.if_contains(key);
    if (value == nullptr || !value->is_object()) throw unusable(fmt::format("{} is missing", key));
    return value->as_object();
}

const json::array& array_at(const json::object& in, std::string_view key) {
    const auto* const value = in.if_contains(key);
    if (value == nullptr || !value->is_array()) throw unusable(fmt::format("{} is missing", key));
    return value->as_array();
}

/// Text that may stand between quotes as it is.
std::string name_at(const json::object& in, std::string_view key) {
    const auto* const value = in.if_contains(key);
    if (value == nullptr || !value->is_string()) throw unusable(fmt::format("{} is missing", key));
    return std::string(value->as_string());
}

std::string in_quotes(std::string_view name) {
    const bool fits = std::ranges::all_of(
        name, [](char each) { return each >= ' ' && each <= '~' && each != '"' && each != '\\'; });
    if (!fits || name.empty() || name.size() > name_size_max || name.find("??") != name.npos)
        throw unusable("a name holds what cannot stand in C++");
    return fmt::format("\"{}\"", name);
}

std::string type_name_at(const json::object& schema) {
    const auto* const type = schema.if_contains("type");
    return type != nullptr && type->is_string() ? std::string(type->as_string()) : std::string();
}

std::string integer_type(const json::object& schema) {
    const auto bound = [&](std::string_view key) -> std::string {
        const auto* const value = schema.if_contains(key);
        if (value == nullptr) return "";
        if (value->is_int64()) return fmt::to_string(value->as_int64());
        return value->is_uint64() ? fmt::to_string(value->as_uint64()) : "";
    };
    struct known {
        std::string_view min, max, type;
    };
    constexpr known types[] = {
        {"-128", "127", "std::int8_t"},
        {"0", "255", "std::uint8_t"},
        {"-32768", "32767", "std::int16_t"},
        {"0", "65535", "std::uint16_t"},
        {"-2147483648", "2147483647", "std::int32_t"},
        {"0", "4294967295", "std::uint32_t"},
        {"0", "18446744073709551615", "std::uint64_t"},
    };
    for (const auto& each : types)
        if (bound("minimum") == each.min && bound("maximum") == each.max)
            return std::string(each.type);
    return "std::int64_t";
}

/// Names of one scope, each once.
class names_in_use {
public:
    /// The name, or one like it that is free.
    std::string take(const std::string& wish) {
        auto name = wish;
        while (!taken_.insert(name).second) {
            auto& times = repeated_[wish];
            name = ++times == 1 ? wish + "_" : fmt::format("{}_{}", wish, times);
        }
        return name;
    }
    [[nodiscard]] std::size_t size() const { return taken_.size(); }
    [[nodiscard]] bool contains(const std::string& name) const { return taken_.contains(name); }

private:
    std::set<std::string> taken_;
    std::map<std::string, std::size_t> repeated_;  // So that the next free one is found at once.
};

/// Writes the types of one interface, each before those that use it.
class type_writer {
public:
    /// A message, described by one of the macros.
    std::string message(const json::object& one) {
        const auto name = name_at(one, "name");
        const auto type = name_at(one, "type");
        const auto identifier = take(to_identifier(name));
        std::string response;
        if (type == "Command") {
            const auto* const answer = one.if_contains("response");
            if (answer != nullptr && answer->is_object()) {
                const auto made = type_of(answer->as_object(), identifier + "_response", 0);
                response = take(identifier + "_answer");
                write(fmt::format("using {} = {};\n", response, made));
            } else {
                response = "void";
            }
        }
        const auto fields = struct_body(object_at(one, "request"), identifier);
        const auto macro = type == "Signal"     ? "POSTHORN_SIGNAL"
                           : type == "PushCall" ? "POSTHORN_PUSH_CALL"
                           : type == "Command"  ? "POSTHORN_COMMAND"
                                                : throw unusable("a message is of no known type");
        write(fmt::format("{}({}, {}{}{}{})\n", macro, identifier, in_quotes(name),
                          response.empty() ? "" : ", ", response, fields));
        return identifier;
    }
    [[nodiscard]] std::string take_text() && { return std::move(out_); }

private:
    /// Defines the struct and gives its fields as the macros want them.
    std::string struct_body(const json::object& schema, const std::string& name,
                            std::size_t depth = 0) {
        const auto& properties = object_at(schema, "properties");
        std::vector<std::string> types;
        for (const auto& [field, one] : properties) {
            if (!one.is_object()) throw unusable("a field has no schema");
            types.push_back(type_of(one.as_object(),
                                    fmt::format("{}_{}", name, to_identifier(field)), depth + 1));
        }
        std::string members;
        std::string fields;
        names_in_use used;
        auto type = types.begin();
        for (const auto& [field, one] : properties) {
            // A member that is named like a type of the struct would hide it.
            auto wish = to_identifier(field);
            if (wish == name || (wish.starts_with(name + "_") && taken_.contains(wish)))
                wish += "_field";
            const auto identifier = used.take(wish);
            members += fmt::format("    {} {}{{}};\n", *type++, identifier);
            fields += fmt::format(", ({}, {})", identifier, in_quotes(field));
        }
        write(fmt::format("struct {} {{\n{}}};\n", name, members));
        return fields;
    }

    std::string type_of(const json::object& schema, const std::string& name, std::size_t depth) {
        if (depth > depth_max) throw unusable("a schema is nested too deep");
        if (const auto* const choices = schema.if_contains("anyOf"))
            return optional_of(*choices, name, depth);
        if (schema.contains("enum")) return enumeration(array_at(schema, "enum"), name);
        const auto type = type_name_at(schema);
        if (type == "string") return text_type(schema);
        if (type == "boolean") return "bool";
        if (type == "integer") return integer_type(schema);
        if (type == "number") return "double";
        if (type == "null") return "std::monostate";
        if (type == "array")
            return fmt::format("std::vector<{}>",
                               type_of(object_at(schema, "items"), name + "_item", depth + 1));
        if (type == "object") return object_type(schema, name, depth);
        return "posthorn::raw_json";
    }

    std::string optional_of(const json::value& choices, const std::string& name,
                            std::size_t depth) {
        const auto* const both = choices.if_array();
        if (both == nullptr || both->size() != 2 || !(*both)[0].is_object())
            return "posthorn::raw_json";
        return fmt::format("std::optional<{}>", type_of((*both)[0].as_object(), name, depth + 1));
    }

    static std::string text_type(const json::object& schema) {
        if (schema.contains("pattern")) return "std::chrono::nanoseconds";
        const auto* const format = schema.if_contains("format");
        if (format == nullptr) return "std::string";
        if (*format == "uuid") return "posthorn::uuid";
        return *format == "date-time" ? "posthorn::wall_time" : "std::string";
    }

    std::string object_type(const json::object& schema, const std::string& name,
                            std::size_t depth) {
        const auto* const values = schema.if_contains("additionalProperties");
        if (values != nullptr && values->is_object())
            return fmt::format("std::map<std::string, {}>",
                               type_of(values->as_object(), name + "_value", depth + 1));
        // One of several alternatives: their types have no names here.
        if (schema.contains("maxProperties") || !schema.contains("properties"))
            return "posthorn::raw_json";
        const auto identifier = take(name);
        const auto fields = struct_body(schema, identifier, depth);
        write(fmt::format("POSTHORN_STRUCT({}{})\n", identifier, fields));
        return identifier;
    }

    std::string enumeration(const json::array& values, const std::string& name) {
        const auto identifier = take(name);
        std::string members;
        std::string described;
        names_in_use used;
        for (const auto& value : values) {
            if (!value.is_string())
                throw unusable("an enumeration holds something other than text");
            const auto one = used.take(to_identifier(value.as_string()));
            members += fmt::format("{}{}", members.empty() ? "" : ", ", one);
            described += fmt::format(", ({}, {})", one, in_quotes(value.as_string()));
        }
        write(fmt::format("enum class {} : std::uint16_t {{ {} }};\nPOSTHORN_ENUM({}{})\n",
                          identifier, members, identifier, described));
        return identifier;
    }

    std::string take(const std::string& wish) {
        if (taken_.size() >= types_max) throw unusable("it has too many types");
        return taken_.take(wish);
    }
    void write(std::string_view text) {
        if (out_.size() + text.size() > text_size_max) throw unusable("it is too large");
        out_ += text;
    }

    std::string out_;
    names_in_use taken_;
};

std::string interface_of(const json::object& one) {
    const auto name = name_at(one, "name");
    const auto* const version = one.if_contains("version");
    if (version == nullptr || !version->is_int64() || version->as_int64() < 0)
        throw unusable("version is missing");
    type_writer types;
    std::string messages;
    for (const auto& each : array_at(one, "messages")) {
        if (!each.is_object()) throw unusable("a message is not an object");
        messages += ", " + types.message(each.as_object());
    }
    return fmt::format(
        "\nnamespace {}_v{} {{\n\n{}\nusing service = posthorn::service<{}, {}{}>;\n\n}}\n",
        to_identifier(name), version->as_int64(), std::move(types).take_text(), in_quotes(name),
        version->as_int64(), messages);
}

/// One line, whatever it holds.
std::string as_comment(std::string_view text) {
    std::string shown;
    for (const char each : text) shown += each >= ' ' && each <= '~' && each != '\\' ? each : '?';
    return shown;
}

}  // namespace

std::string to_identifier(std::string_view name) {
    std::string made;
    char before = '_';
    for (const char each : name) {
        const bool is_upper = each >= 'A' && each <= 'Z';
        const bool is_lower = each >= 'a' && each <= 'z';
        const bool is_digit = each >= '0' && each <= '9';
        const bool ends_word = (before >= 'a' && before <= 'z') || (before >= '0' && before <= '9');
        if (is_upper && ends_word) made += '_';
        if (is_upper)
            made += static_cast<char>(each - 'A' + 'a');
        else if (is_lower || is_digit)
            made += each;
        else if (!made.empty() && !made.ends_with('_'))
            made += '_';
        before = each;
    }
    while (made.ends_with('_')) made.pop_back();
    if (made.empty() || (made[0] >= '0' && made[0] <= '9')) made.insert(0, "n_");
    if (std::ranges::find(keywords, made) != keywords.end()) made += '_';
    return made;
}

std::string to_namespace(std::string_view name) {
    auto made = to_identifier(name);
    // The outermost name shares its scope with what C declares.
    if (std::ranges::find(c_names, made) != c_names.end()) made += "_service";
    return made;
}

result<std::string> write_contract_header(const json::object& metadata, const header_wish& wish) {
    try {
        std::string interfaces;
        for (const auto& each : array_at(metadata, "interfaces")) {
            if (!each.is_object()) throw unusable("an interface is not an object");
            interfaces += interface_of(each.as_object());
        }
        return fmt::format(
            "#pragma once\n// Made by `posthorn contracts import` from {}; changes are lost.\n\n"
            "#include <chrono>\n#include <cstdint>\n#include <map>\n#include <optional>\n"
            "#include <string>\n#include <variant>\n#include <vector>\n\n"
            "#include <posthorn/service.hpp>\n#include <posthorn/detail/time.hpp>\n"
            "#include <posthorn/uuid.hpp>\n\nnamespace {} {{\n{}\n}}\n",
            as_comment(wish.from), to_namespace(wish.name), interfaces);
    } catch (const std::exception& why) {
        return fail(error_code::malformed_request, "the metadata of {} cannot be used: {}",
                    as_comment(wish.from), why.what());
    }
}

}  // namespace posthorn::cli
