#include "transport/broker/broker_answers.hpp"

#include <fmt/format.h>

#include <posthorn/error.hpp>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

constexpr std::size_t error_characters_max = 2000;
constexpr std::chrono::milliseconds full_pause = std::chrono::seconds{1};

delivery named(outcome what, error_code code, std::string_view why) {
    return {
        .what = what,
        .error = clean_utf8(fmt::format("{}: {}", describe(code).name, why), error_characters_max),
        .code = code};
}

}  // namespace

delivery broker_has_it(bool duplicate) {
    return {.what = outcome::delivered, .duplicate = duplicate};
}

delivery broker_has_no_place(std::string_view why) {
    return named(outcome::undeliverable, error_code::unroutable, why);
}

delivery broker_never_takes(error_code code, std::string_view why) {
    return named(outcome::permanent, code, why);
}

delivery broker_is_full(std::string_view why) {
    auto answer = named(outcome::throttled, error_code::overloaded, why);
    answer.retry_after = full_pause;
    return answer;
}

delivery broker_is_silent(std::string_view why) {
    return named(outcome::unanswered, error_code::unreachable, why);
}

}  // namespace posthorn
