#include "app/config/config_problems.hpp"

#include <charconv>

#include <fmt/ranges.h>

#include "base/text/hide_secrets.hpp"

namespace posthorn {

std::int64_t line_of_problem(std::string_view text) noexcept {
    for (auto at = text.find(':'); at != std::string_view::npos; at = text.find(':', at + 1)) {
        std::int64_t line = 0;
        const auto* const end = text.data() + text.size();
        const auto [stop, wrong] = std::from_chars(text.data() + at + 1, end, line);
        if (wrong == std::errc{} && std::string_view(stop, end).starts_with(": ")) return line;
    }
    return no_line;
}

void config_problems::add(const error& why) {
    if (all_.empty())
        code_ = why.code();
    else if (code_ != why.code())
        code_ = error_code::invalid_configuration;
    all_.emplace(line_of_problem(why.what()), hide_secrets(why.what()));
}

void config_problems::add(std::string_view origin, std::string_view text) {
    add(error(error_code::invalid_configuration, fmt::format("{}: {}", origin, text)));
}

std::vector<std::string> config_problems::texts() const {
    std::vector<std::string> texts;
    for (const auto& [line, text] : all_) texts.push_back(text);
    return texts;
}

result<> config_problems::outcome() const {
    if (none()) return {};
    return std::unexpected(error(*code_, fmt::format("{}", fmt::join(texts(), "\n"))));
}

}  // namespace posthorn
