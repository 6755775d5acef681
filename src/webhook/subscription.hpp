#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include <posthorn/detail/time.hpp>
#include <posthorn/uuid.hpp>

#include "base/result.hpp"
#include "security/secret.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

enum class subscription_state : std::uint8_t {
    active,
    paused,    // Its events wait.
    disabled,  // Events pass it by; what waited is given up.
};

/// Which headers prove where a request comes from.
enum class webhook_style : std::uint8_t { standard, outbox, both };

/// What a request's body is.
enum class webhook_form : std::uint8_t {
    envelope,  // `{"type", "timestamp", "data"}`.
    raw,       // The payload as it was published, to the byte.
    thin,      // An envelope whose data is the id of the event's entity.
};

[[nodiscard]] std::string_view to_string(subscription_state state) noexcept;
[[nodiscard]] std::string_view to_string(webhook_style style) noexcept;
[[nodiscard]] std::string_view to_string(webhook_form form) noexcept;
[[nodiscard]] std::optional<subscription_state> parse_subscription_state(std::string_view text);
[[nodiscard]] std::optional<webhook_style> parse_webhook_style(std::string_view text);
[[nodiscard]] std::optional<webhook_form> parse_webhook_form(std::string_view text);

/// Who is told of which events, and how: a row of `webhook_subscriptions`.
struct subscription {
    uuid id;
    std::string tenant{};          // Empty: events of every tenant, and of none.
    std::string event_type = "*";  // `order.paid`, `order.*` or `*`.
    std::string url{};
    std::string secret{};           // As it is stored: sealed, or in the clear where no key is.
    std::string previous_secret{};  // Signs too, until `previous_until`.
    std::optional<wall_time> previous_until{};
    subscription_state state = subscription_state::active;
    std::string reason{};  // Why it is not active.
    webhook_style style = webhook_style::standard;
    webhook_form form = webhook_form::envelope;
    std::int32_t max_retries = 5;
    std::chrono::seconds timeout{30};
    std::string headers{};  // A JSON object of texts, or empty.
    std::string filter{};   // As `payload_filter` reads it, or empty.
    std::string description{};
    wall_time created_at{};
    std::optional<wall_time> updated_at{};
    std::string too_large{};     // Which column of its row is, and was not read to its end.
    bool is_configured = false;  // It stands in `webhooks.subscribers`, and in no row.
    bool is_given = false;       // The program named it in code; likewise.
    /// Of a configured one: it hears of events whose tenant has no configured one of its own.
    bool is_default = false;
};

/// What the destinations of deliveries begin with.
inline constexpr std::string_view lane_prefix = "webhook:";
/// The lane of its deliveries.
[[nodiscard]] std::string destination_of(const uuid& subscription);
/// Whose lane a destination is; empty if it is none.
[[nodiscard]] std::optional<uuid> subscription_of(std::string_view destination);

/// Whether a text can be a type of events.
[[nodiscard]] bool is_event_type(std::string_view text);
/// Whether a pattern of event types has one of them: `order.paid` itself, `order.*` and `*`.
[[nodiscard]] bool covers(std::string_view pattern, std::string_view event_type);

/// Which events a subscriber wants, by what they say: `{"/data/country": ["DE", "AT"]}`. Every
/// pointer must lead to one of its values; where it leads nowhere the event is not wanted.
///
/// Threads: any.
class payload_filter {
public:
    /// Of an empty text: every event. Fails with `invalid_argument`.
    [[nodiscard]] static result<payload_filter> parse(std::string_view text);

    /// `envelope` is `{"type", "data"}`.
    [[nodiscard]] bool wants(const boost::json::value& envelope) const;
    [[nodiscard]] bool asks() const noexcept { return !rules_.empty(); }

private:
    struct rule {
        std::string pointer;
        std::vector<boost::json::value> values;
    };

    std::vector<rule> rules_;
};

/// The headers that a subscriber wants to have sent with each request. Fails with
/// `invalid_argument`.
[[nodiscard]] result<http_headers> parse_custom_headers(std::string_view text);

/// All that can be checked without a look at the network: `invalid_argument`, naming what is wrong.
[[nodiscard]] result<> check(const subscription& one, bool plain_http);
/// Which field `check` complains about, as the admin API calls it; empty if none.
[[nodiscard]] std::string_view wrong_field(const subscription& one, bool plain_http);

}  // namespace posthorn
