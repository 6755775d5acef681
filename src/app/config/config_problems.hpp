#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/config.hpp"
#include "base/result.hpp"

namespace posthorn {

/// What is wrong with a configuration, so that all of it is told at once.
class config_problems {
public:
    /// `posthorn.toml:3: what is wrong; what to do`. Secrets in it are hidden.
    void add(const error& why);
    void add(std::string_view origin, std::string_view text);

    [[nodiscard]] bool none() const noexcept { return all_.empty(); }
    /// In the order of the file; what has no line comes last.
    [[nodiscard]] std::vector<std::string> texts() const;
    /// One error with a line for each. It has their code, or `invalid_configuration` where they
    /// have several.
    [[nodiscard]] result<> outcome() const;

private:
    std::multimap<std::int64_t, std::string> all_;  // By line.
    std::optional<error_code> code_;
};

inline constexpr std::int64_t no_line = std::numeric_limits<std::int64_t>::max();
/// The line in `posthorn.toml:3: …`, or `no_line`. Pure.
[[nodiscard]] std::int64_t line_of_problem(std::string_view text) noexcept;

/// Checks what no single key shows: values out of their range, or that need another one.
void check_config(const config& settings, config_problems& found);

/// Reads a file as `load_config` does. What is wrong is added to `found`, and left out of the
/// configuration, so that the rest of it can be checked too.
[[nodiscard]] config read_config_file(const std::filesystem::path& file, config_problems& found);

}  // namespace posthorn
