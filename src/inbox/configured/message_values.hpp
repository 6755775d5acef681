#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/sql.hpp>
#include <posthorn/message.hpp>

#include "inbox/configured/sql_script.hpp"

namespace posthorn {

/// The names with an underscore: of every message, and those that only one that was given up has.
[[nodiscard]] std::span<const std::string_view> names_of_message() noexcept;
[[nodiscard]] std::span<const std::string_view> names_of_dead_letter() noexcept;

/// What a message gives to the parameters of a statement: the fields at the top of its payload,
/// and, under names with an underscore, what else is known of it.
///
/// Text, numbers and null are themselves, a truth is 0 or 1, an object or an array its JSON.
///
/// Lifetime: the message outlives it, and it outlives the parameters that it gives.
/// Threads:  one.
class message_values {
public:
    message_values(const message& of, wall_time received_at);
    /// The same of a message that was given up, with why. What it lacks is NULL: such a statement
    /// gets messages of every kind.
    message_values(const dead_letter& of, wall_time now);

    /// The values for a statement's parameters. Throws `permanent`, which names the parameter, if
    /// the message lacks one or has a number that the database cannot hold.
    [[nodiscard]] std::vector<sql_param> bind(const sql_statement& to) const;

private:
    struct field {
        sql_param value = nullptr;
        bool fits = true;
    };

    enum class gaps : unsigned char { refused, null };

    message_values(const message& of, gaps missing, wall_time now);
    void add_payload(std::string_view payload);
    field read(std::string_view raw);
    std::string_view keep(std::string text);
    void add_text(std::string_view name, std::string_view text);

    const message& of_;
    gaps missing_;
    std::map<std::string, field, std::less<>> fields_;
    std::vector<std::unique_ptr<std::string>> kept_;  // What parameters point into.
    std::string why_no_fields_;
};

}  // namespace posthorn
