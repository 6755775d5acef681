#pragma once

#include <string>
#include <vector>

namespace posthorn::cli {

/// One option of a command, as completion offers it.
struct option_form {
    std::vector<std::string> names{};    // With their hyphens; none for what stands by its place.
    std::vector<std::string> choices{};  // What may follow, where that is a closed list.
    bool takes_value = false;
    bool is_file = false;  // The value is the path of a file.
    std::string summary{};
};

/// One command with all that it takes, as it declares it.
struct command_form {
    std::vector<std::string> path{};  // Such as `keys`, `rotate`; empty for the program itself.
    std::string summary{};
    std::string help{};
    std::vector<option_form> options{};
    std::vector<std::string> members{};  // The commands it holds.
};

/// Every command there is, those inside others included, each before its members. The first is the
/// program itself.
[[nodiscard]] std::vector<command_form> list_commands();

}  // namespace posthorn::cli
