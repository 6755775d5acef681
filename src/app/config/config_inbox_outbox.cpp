// The section [InboxOutbox]: the options of the integration-events document under their own names,
// each of which stands for a key or two of ours.
#include <algorithm>
#include <array>
#include <charconv>

#include "app/config/config_table.hpp"

namespace posthorn {
namespace {

enum class written_as : std::uint8_t { number, truth, milliseconds, days, span };

struct document_option {
    std::string_view name;
    written_as how;
    std::string_view key;
    std::string_view also{};
};

constexpr std::string_view parallel_name = "EnableParallelProcessing";
constexpr std::string_view degree_name = "MaxDegreeOfParallelism";

constexpr std::array document_options{
    document_option{"OutboxPollingInterval", written_as::span, "outbox.poll_interval"},
    document_option{"BatchSize", written_as::number, "outbox.batch_size"},
    document_option{"MaxRetries", written_as::number, "outbox.max_retries"},
    document_option{"RetryBaseDelayMilliseconds", written_as::milliseconds,
                    "outbox.retry_delay_base"},
    document_option{"RetryMaxDelayMilliseconds", written_as::milliseconds,
                    "outbox.retry_delay_max"},
    document_option{"OutboxRetentionDays", written_as::days, "outbox.sent_retention"},
    document_option{"InboxRetentionDays", written_as::days, "inbox.retention"},
    document_option{"CleanupInterval", written_as::span, "outbox.cleanup_interval",
                    "inbox.cleanup_interval"},
    document_option{"EnableAutomaticCleanup", written_as::truth, "store.cleanup"},
    document_option{"EnableDeadLetterQueue", written_as::truth, "outbox.dead_letters"},
    document_option{"DeadLetterRetentionDays", written_as::days, "outbox.dead_retention"},
    // Both together are `outbox.window`.
    document_option{parallel_name, written_as::truth, "outbox.window"},
    document_option{degree_name, written_as::number, "outbox.window"},
};

std::string_view wanted_as(written_as how) {
    switch (how) {
        case written_as::number:
        case written_as::milliseconds:
        case written_as::days: return config_type<std::int64_t>::wanted;
        case written_as::truth: return config_type<bool>::wanted;
        case written_as::span: break;
    }
    return R"(a time such as "00:00:05", or "5s")";
}

std::optional<std::int64_t> whole(std::string_view digits) {
    std::int64_t number = 0;
    const auto* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, number);
    if (read.ec != std::errc{} || read.ptr != end || number < 0) return std::nullopt;
    return number;
}

/// `hh:mm:ss`, as the document writes it.
std::optional<config_value> span_of(std::string_view text) {
    const auto first = text.find(':');
    const auto second = first == std::string_view::npos ? first : text.find(':', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    const auto hours = whole(text.substr(0, first));
    const auto minutes = whole(text.substr(first + 1, second - first - 1));
    const auto seconds = whole(text.substr(second + 1));
    constexpr std::int64_t hours_max = 24 * 366;
    if (!hours || !minutes || !seconds || *hours > hours_max || *minutes > 59 || *seconds > 59)
        return std::nullopt;
    return fmt::format("{}s", (*hours * 60 + *minutes) * 60 + *seconds);
}

/// The value as our key has it; empty if it is not of the option's type.
std::optional<config_value> as_key_has_it(written_as how, const config_value& value) {
    const auto number = config_type<std::int64_t>::read(value);
    switch (how) {
        case written_as::number: return number ? std::optional(value) : std::nullopt;
        case written_as::truth:
            return config_type<bool>::read(value) ? std::optional(value) : std::nullopt;
        case written_as::milliseconds:
        case written_as::days:
            if (!number || *number < 0) return std::nullopt;
            return fmt::format("{}{}", *number, how == written_as::days ? "d" : "ms");
        case written_as::span: break;
    }
    if (config_type<std::chrono::milliseconds>::read(value)) return value;
    const auto* const text = std::get_if<std::string>(&value);
    return text != nullptr ? span_of(*text) : std::nullopt;
}

config_value window_of(config& settings, std::string_view name, const config_value& value) {
    auto& said = settings.inbox_outbox;
    if (name == parallel_name)
        said.parallel = std::get<bool>(value);
    else
        said.degree = std::get<std::int64_t>(value);
    return said.parallel ? said.degree : std::int64_t{1};
}

}  // namespace

result<> set_inbox_outbox(config& settings, std::string_view name, const config_value& value,
                          std::string_view origin) {
    const auto found = std::ranges::find(document_options, name, &document_option::name);
    if (found == document_options.end()) {
        std::vector<std::string_view> names;
        for (const auto& each : document_options) names.push_back(each.name);
        return fail(error_code::invalid_configuration, "{}: unknown key '{}' in [InboxOutbox]; {}",
                    origin, name, suggestion(name, names));
    }
    auto ours = as_key_has_it(found->how, value);
    if (!ours)
        return wrong_value(origin, fmt::format("InboxOutbox.{}", name), value,
                           wanted_as(found->how));
    if (name == parallel_name || name == degree_name) ours = window_of(settings, name, *ours);
    POSTHORN_TRY(set_config(settings, found->key, *ours, origin));
    if (!found->also.empty()) POSTHORN_TRY(set_config(settings, found->also, *ours, origin));
    return {};
}

}  // namespace posthorn
