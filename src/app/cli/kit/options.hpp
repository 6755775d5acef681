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

inline void add_json_flag(CLI::App& options, bool& json) {
    options.add_flag("--json", json, "print JSON");
}

}  // namespace posthorn::cli
