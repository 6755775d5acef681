#include <algorithm>
#include <span>
#include <variant>

#include "app/config/config_type.hpp"
#include "base/assert.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

struct number {
    std::string_view key;
    std::variant<std::string_view, std::int64_t, double, bool> value;
};

// Each set says what its document says; docs/reference/configuration.md names the options there
// that these keys stand for. What a set leaves out is as in "messaging", whose numbers are also
// those of a configuration without a file.

constexpr number messaging[] = {
    {"outbox.poll_interval", "1s"},    {"outbox.max_retries", 5},
    {"outbox.message_ttl", "24h"},     {"outbox.retry", "exponential"},
    {"outbox.retry_delay_base", "2s"}, {"outbox.retry_delay_max", "5m"},
    {"outbox.jitter_max", "500ms"},    {"outbox.jitter_factor", 0.0},
    {"outbox.batch_size", 50},         {"outbox.sent_retention", "7d"},
    {"outbox.cleanup_interval", "5m"}, {"inbox.retention", "24h"},
    {"inbox.cleanup_interval", "5m"},
};

constexpr number webhooks[] = {
    {"outbox.poll_interval", "1s"},
    {"outbox.max_retries", 5},
    {"outbox.retry", "exponential"},
    {"outbox.retry_delay_base", "5s"},
    {"outbox.retry_delay_max", "5m"},
    {"outbox.jitter_max", "0ms"},
    {"outbox.jitter_factor", 0.2},
    {"outbox.batch_size", 50},
    {"outbox.request_timeout", "30s"},
    {"outbox.attempt_timeout", "5m"},
    {"outbox.window", 10},
    {"webhooks.metrics", "outboxnet"},
    {"otlp.profile", "outboxnet"},
};

constexpr number store_and_forward[] = {
    {"store.url", "sqlite:data/store-and-forward.db"},
    {"outbox.poll_interval", "10s"},
    {"outbox.max_retries", 50},
    {"outbox.message_ttl", "30d"},  // It has none; here every message has.
    {"outbox.retry", "fixed"},
    {"outbox.retry_delay_base", "30s"},
    {"outbox.jitter_max", "0ms"},
    {"outbox.sent_retention", "7d"},
};

constexpr number integration_events[] = {
    {"store.cleanup", true},
    {"outbox.poll_interval", "5s"},
    {"outbox.max_retries", 5},
    {"outbox.retry", "exponential"},
    {"outbox.retry_delay_base", "1s"},
    {"outbox.retry_delay_max", "60s"},
    {"outbox.jitter_max", "0ms"},
    {"outbox.jitter_factor", 0.2},
    {"outbox.window", 1},
    {"outbox.batch_size", 100},
    {"outbox.sent_retention", "7d"},
    {"outbox.cleanup_interval", "1h"},
    {"inbox.retention", "7d"},
    {"inbox.cleanup_interval", "1h"},
    {"outbox.dead_retention", "30d"},
};

constexpr number workflow_numbers[] = {
    {"store.vacuum", "weekly"},      {"outbox.poll_interval", "30s"},
    {"outbox.retry", "exponential"}, {"outbox.sent_retention", "24h"},
    {"outbox.dead_retention", "7d"},
};

std::span<const number> numbers_of(defaults_name name) {
    switch (name) {
        case defaults_name::messaging: return messaging;
        case defaults_name::webhooks: return webhooks;
        case defaults_name::store_and_forward: return store_and_forward;
        case defaults_name::integration_events: return integration_events;
        case defaults_name::workflow: return workflow_numbers;
    }
    POSTHORN_ASSERT(false);
    return {};
}

config_value written(const number& one) {
    if (const auto* text = std::get_if<std::string_view>(&one.value)) return std::string(*text);
    if (const auto* whole = std::get_if<std::int64_t>(&one.value)) return *whole;
    if (const auto* part = std::get_if<double>(&one.value)) return *part;
    return std::get<bool>(one.value);
}

/// What the document itself says, before it is raised.
std::optional<milliseconds> documented_time(defaults_name name, std::string_view key) {
    for (const auto set : {numbers_of(name), numbers_of(defaults_name::messaging)})
        if (const auto found = std::ranges::find(set, key, &number::key); found != set.end())
            return config_type<milliseconds>::read(written(*found));
    return std::nullopt;
}

std::string quoted(defaults_name name) {
    return fmt::format("defaults \"{}\"", config_type<defaults_name>::show(name));
}

std::string note_on_retention(const config& settings) {
    const auto origin = settings.origin_of("inbox.retention");
    const auto name = settings.service.defaults;
    if (origin != "default" && origin != quoted(name)) return {};
    const auto documented = documented_time(name, "inbox.retention");
    if (!documented || *documented >= settings.inbox.retention) return {};
    const auto show = [](milliseconds time) {
        return fmt::format("{}h", std::chrono::floor<std::chrono::hours>(time).count());
    };
    return fmt::format(
        "{} instead of the {} of \"{}\": a repeat that comes after the inbox has forgotten its "
        "message would take effect a second time",
        show(settings.inbox.retention), show(*documented), config_type<defaults_name>::show(name));
}

}  // namespace

void apply_defaults(config& settings, defaults_name name) {
    for (const auto& one : numbers_of(name)) {
        const auto set = set_config(settings, one.key, written(one), quoted(name));
        POSTHORN_ASSERT(set.has_value());
    }
    settings.service.defaults = name;
    settings.inbox.retention = std::max(settings.inbox.retention, inbox_retention_min);
}

std::string note_on(const config& settings, std::string_view key) {
    if (key == "inbox.retention") return note_on_retention(settings);
    const auto& store = settings.store;
    if ((key == "store.url" && store.url.in_memory) ||
        (key == "store.inbox_url" && store.inbox_url && store.inbox_url->in_memory))
        return "not durable: it ends with the node, and everything in it; for tests alone";
    return {};
}

}  // namespace posthorn
