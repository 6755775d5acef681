#pragma once

#include <span>
#include <string_view>

namespace posthorn {

/// One thing that may be said on the command line, and where it goes in the request.
struct feature_option {
    /// `{name}` of the path, a parameter of the query, or a field of the body.
    enum class place : unsigned char { path, query, body };

    std::string_view name;  // As the endpoint calls it; `--name`, or NAME where it is in the path.
    std::string_view doc;
    place where = place::query;
    bool number = false;      // Otherwise it is text.
    bool flag = false;        // Takes no value; "true" is asked for where it is given.
    std::string_view word{};  // What is written on the command line, if not the name.

    [[nodiscard]] constexpr std::string_view said() const noexcept {
        return word.empty() ? name : word;
    }
};

/// A column of a table that a command prints.
struct feature_column {
    std::string_view head;
    std::string_view field;  // Of each object in the answer's list.
};

/// A command that asks one admin endpoint, of a node or of a database file, and shows the answer.
///
/// It is data, so that a feature says once what can be asked: the endpoint answers, and the command
/// line knows how to print lists, objects and JSON.
struct feature_command {
    std::string_view name;  // `list` of `posthorn queue list`.
    std::string_view summary;
    std::string_view method;
    std::string_view path;
    std::span<const feature_option> options{};
    std::string_view list{};  // The answer's field that holds a list, if it is one.
    std::span<const feature_column> columns{};
    std::string_view example{};
    bool in_stats = false;  // `posthorn stats` shows it too, under the feature's name.
};

}  // namespace posthorn
