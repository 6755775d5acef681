#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace posthorn::cli {

/// An argument that stands by its place; its name says what it is, so the help shows no type.
template <class T>
CLI::Option* add_place(CLI::App& options, const std::string& name, T& value,
                       const std::string& summary) {
    return options.add_option(name, value, summary)->type_name("");
}

/// For an option that narrows: a script's variable that was not set must not mean everything.
inline CLI::Option* not_empty(CLI::Option* option) {
    return option->check([](const std::string& value) {
        return std::string(value.empty() ? "it is empty; give a value, or leave it out" : "");
    });
}

inline void add_json_flag(CLI::App& options, bool& json) {
    options.add_flag("--json", json, "print JSON");
}

}  // namespace posthorn::cli
