#include "forward/targets/configured_categories.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/text/percent.hpp"
#include "base/text/utf8.hpp"
#include "forward/forward_terms.hpp"
#include "forward/limits/sample_sieve.hpp"
#include "forward/targets/node_target.hpp"
#include "forward/targets/sql_target.hpp"

namespace posthorn {
namespace {

constexpr std::int64_t number_max = std::int64_t{1} << 53;
constexpr std::string_view place_of_target = "{target}";

/// Free text must not end the header that it stands in.
std::string header_safe(std::string_view text) {
    std::string safe(text);
    for (char& each : safe)
        if (static_cast<unsigned char>(each) < ' ' || each == '\x7f') each = ' ';
    return safe;
}

std::optional<std::int64_t> read_number(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.begin(), text.end(), number);
    if (failure != std::errc{} || end != text.end()) return std::nullopt;
    return number;
}

/// One entry, as far as it is read.
class entry_reader {
public:
    entry_reader(std::size_t number, const feature_tables::fields& from)
        : number_(number), from_(from) {}

    result<configured_category> read() {
        configured_category one;
        for (const auto& [name, value] : from_)
            if (!take_database(one, name, value)) POSTHORN_TRY(take(one, name, value));
        if (!is_forward_category(one.name))
            return wrong("give it a name of at most 64 letters, digits, '.', '-' and '_'");
        POSTHORN_TRY(check_target(one));
        return one;
    }

private:
    [[nodiscard]] std::unexpected<error> wrong(std::string_view what) const {
        return fail(error_code::invalid_configuration, "forward.categories, entry {}: {}", number_,
                    what);
    }

    static bool take_database(configured_category& one, std::string_view name,
                              const std::string& value) {
        if (name == "database") one.database = value;
        if (name == "once") one.once = value == "true";
        return name == "database" || (name == "once" && (value == "true" || value == "false"));
    }

    [[nodiscard]] result<> check_target(const configured_category& one) const {
        const bool is_sql = one.url.starts_with(sql_scheme);
        if (is_sql != !one.database.empty() || (one.once && !is_sql))
            return wrong("'database' and 'once' belong to 'to = \"sql:…\"', which needs the first");
        if (is_sql) {
            const auto script =
                read_target_script(std::string_view(one.url).substr(sql_scheme.size()));
            return script ? result<>{} : wrong(script.error().what());
        }
        if (read_node_target(one.url) || one.url.starts_with("http://") ||
            one.url.starts_with("https://"))
            return {};
        return wrong(
            "'to' is not an http:// or https:// address, node:service/endpoint, or sql: and "
            "statements");
    }

    result<> take(configured_category& one, std::string_view name, const std::string& value) {
        if (name == "name")
            one.name = value;
        else if (name == "to")
            one.url = value;
        else if (name == "tracked" && (value == "true" || value == "false"))
            one.how.tracked = value == "true";
        else if (name == "max_retries")
            return take_number(name, value, 0, 1'000'000, [&](std::int64_t number) {
                one.how.max_retries = static_cast<std::int32_t>(number);
            });
        else if (name == "retry_seconds")
            return take_number(name, value, 1, 86'400, [&](std::int64_t number) {
                one.how.retry_interval = std::chrono::seconds(number);
            });
        else if (name == "timeout_seconds")
            return take_number(name, value, 1, 3'600, [&](std::int64_t number) {
                one.how.timeout = std::chrono::seconds(number);
            });
        else if (name == "max_messages")
            return take_number(name, value, 0, number_max,
                               [&](std::int64_t number) { one.how.max_messages = number; });
        else if (name == "max_bytes")
            return take_number(name, value, 0, number_max,
                               [&](std::int64_t number) { one.how.max_bytes = number; });
        else if (name == "max_age_seconds")
            return take_number(name, value, 0, 1'000'000'000, [&](std::int64_t number) {
                one.how.max_age = std::chrono::seconds(number);
            });
        else if (const auto band = parse_deadband(value); name == "deadband" && band) {
            one.how.deadband = band->value;
            one.how.deadband_is_percent = band->is_percent;
        } else if (name == "keep" && (value == "all" || value == "last"))
            one.how.keep_last = value == "last";
        else  // What stands under a name that is not known is not quoted: it may be a password.
            return wrong(fmt::format(
                "'{}' cannot be {}; write name, to, tracked (true or false), "
                "max_retries, retry_seconds, timeout_seconds, max_messages, max_bytes, "
                "max_age_seconds, deadband (0.5 or 2%) or keep (all or last)",
                clean_utf8(name, 100), may_be_quoted(name) ? clean_utf8(value, 100) : "there"));
        return {};
    }

    static bool may_be_quoted(std::string_view name) {
        constexpr std::array<std::string_view, 4> names{"tracked", "deadband", "keep", "once"};
        return std::ranges::find(names, name) != names.end();
    }

    template <class Take>
    result<> take_number(std::string_view name, std::string_view value, std::int64_t least,
                         std::int64_t most, const Take& into) {
        const auto number = read_number(value);
        if (!number || *number < least || *number > most)
            return wrong(fmt::format("{} is {}; give a number from {} to {}", name,
                                     clean_utf8(value, 100), least, most));
        into(*number);
        return {};
    }

    std::size_t number_;
    const feature_tables::fields& from_;
};

std::chrono::milliseconds retry_after(const http_response& answer) {
    constexpr std::chrono::seconds usual{5};
    const auto said = answer.headers.find("Retry-After");
    const auto seconds = said ? read_number(*said) : std::nullopt;
    return seconds && *seconds >= 0 && *seconds <= 86'400 ? std::chrono::seconds(*seconds) : usual;
}

task<asked_outcome> ask(configured_category to, web_client web, forward_message work) {
    auto answer = co_await web(
        forward_url(to.url, work.target), forward_request(work),
        {.exchange_timeout = to.how.timeout, .reply_bytes_max = std::size_t{64} * 1024});
    if (!answer)
        co_return asked_outcome{.what = {.what = outcome::unanswered,
                                         .error = fmt::format("{} cannot be reached: {}",
                                                              work.target, answer.error().what())}};
    co_return asked_outcome{.what = judge_forward_answer(*answer), .http_status = answer->status};
}

}  // namespace

result<std::vector<configured_category>> read_categories(const feature_settings& said) {
    std::vector<configured_category> all;
    const auto& written = said.get<feature_tables>("categories").items;
    for (std::size_t i = 0; i < written.size(); ++i) {
        POSTHORN_LET(one, entry_reader(i + 1, written[i]).read());
        for (const auto& other : all)
            if (other.name == one.name)
                return fail(error_code::invalid_configuration,
                            "forward.categories, entry {}: {} is there already", i + 1, one.name);
        all.push_back(std::move(one));
    }
    return all;
}

std::string forward_url(std::string_view url, std::string_view target) {
    std::string whole(url);
    if (const auto at = whole.find(place_of_target); at != std::string::npos)
        whole.replace(at, place_of_target.size(), percent_encode(target));
    return whole;
}

http_request forward_request(const forward_message& work) {
    http_request request;
    request.method = "POST";
    request.body = work.payload;
    const auto add_if_any = [&](const char* name, std::string_view value) {
        if (!value.empty()) request.headers.add(name, header_safe(value));
    };
    const auto id = work.id.to_string();
    request.headers.add("Content-Type", "application/json");
    request.headers.add("Idempotency-Key", id);
    request.headers.add("rf-message-id", id);
    add_if_any("rf-category", work.category);
    add_if_any("rf-target", work.target);
    add_if_any("rf-origin-instance", work.origin_instance);
    add_if_any("rf-execution-id", work.execution_id);
    return request;
}

delivery judge_forward_answer(const http_response& answer) {
    const auto status = answer.status;
    if (status >= 200 && status < 300) return {.what = outcome::delivered};
    auto said = fmt::format("HTTP {}", status);
    if (!answer.body.empty()) said += ": " + clean_utf8(answer.body, 500);
    switch (status) {
        case 429:
        case 503:
            return {.what = outcome::throttled,
                    .error = std::move(said),
                    .retry_after = retry_after(answer)};
        case 502:
        case 504: return {.what = outcome::unanswered, .error = std::move(said)};
        case 401:
        case 408:
        case 425: return {.what = outcome::transient, .error = std::move(said)};
        default: break;
    }
    const bool refuses = status >= 400 && status < 500;
    return {.what = refuses ? outcome::permanent : outcome::transient, .error = std::move(said)};
}

result<forward_asker> make_target_asker(configured_category to, const target_means& with) {
    if (auto node = read_node_target(to.url)) return make_node_asker(*std::move(node), with.peers);
    if (!to.url.starts_with(sql_scheme)) return make_forward_asker(std::move(to), with.web);
    POSTHORN_LET(script, read_target_script(std::string_view(to.url).substr(sql_scheme.size())));
    auto database = with.open_outside(to.database);
    if (!database)
        return fail(error_code::invalid_configuration, "forward.categories, {}: {}", to.name,
                    database.error().what());
    return make_sql_asker({.script = std::move(script), .once = to.once}, *std::move(database),
                          with.workers);
}

forward_asker make_forward_asker(configured_category to, web_client web) {
    return [to = std::move(to), web = std::move(web)](forward_message work) {
        return ask(to, web, std::move(work));
    };
}

}  // namespace posthorn
