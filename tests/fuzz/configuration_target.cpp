#include "fuzz/configuration_target.hpp"

#include <limits>
#include <string>

#include "app/config/config.hpp"
#include "base/text/base64.hpp"
#include "fuzz/promise.hpp"

namespace posthorn {
namespace {

using fuzz::demand;

// What a timer of the system can be told.
constexpr auto time_max =
    std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds::max()) / 2;

void check_ranges(const config& taken) {
    const auto& out = taken.outbox;
    for (const auto time :
         {out.poll_interval, out.message_ttl, out.retry_delay_base, out.retry_delay_max,
          out.jitter_max, out.request_timeout, out.attempt_timeout, out.cleanup_interval,
          out.drain_timeout, taken.inbox.retention, taken.inbox.cleanup_interval,
          taken.limits.header_timeout, taken.limits.idle_timeout, taken.backup.every,
          taken.backup.keep})
        demand(time.count() >= 0 && time <= time_max, "a timer can be set to every time");
    for (const auto& [name, route] : taken.routes)
        demand(!route.timeout || (route.timeout->count() > 0 && *route.timeout <= time_max),
               "a timer can be set to the time of every route");
    for (const auto& [name, handler] : taken.handlers)
        demand(handler.limit <= time_max && handler.lease <= time_max,
               "a timer can be set to the times of every handler");
    demand(taken.limits.headers.bytes <= std::numeric_limits<std::uint32_t>::max(),
           "the limit of headers fits where it goes");
    demand(taken.limits.body.bytes >= 1024 && taken.limits.depth <= 64, "limits are in range");
    demand(out.batch_size >= 1 && out.window >= 1 && out.max_retries >= -1, "numbers are in range");
    demand(taken.inbox.retention >= inbox_retention_needed(taken),
           "what may come again is remembered for longer");
}

// A name that a secret is taken from is shown, and may by chance read like another secret.
void check_hidden(const config& taken, const config_entry& shown) {
    for (const auto& [peer, secrets] : taken.secrets) {
        const auto is_written = [](const auto& one) {
            return one.where == secret_setting::kind::written;
        };
        if (shown.key != "secrets." + peer || !std::ranges::all_of(secrets, is_written)) continue;
        for (const auto& one : secrets)
            demand(shown.value.find(encode_base64(one.value.reveal())) == std::string::npos,
                   "no secret is shown");
    }
}

void check_shown(const config& taken) {
    auto again = taken;
    for (const auto& each : list_config(taken)) {
        check_hidden(taken, each);
        if (each.type != "duration" && each.type != "size" && each.type != "address") continue;
        demand(set_config(again, each.key, each.value, "shown").has_value(),
               "a value as it is shown can be written");
    }
    const auto before = list_config(taken), after = list_config(again);
    for (std::size_t i = 0; i < before.size(); ++i)
        demand(before[i].value == after[i].value, "a value as it is shown means the same");
}

}  // namespace

void fuzz_configuration(const std::uint8_t* data, std::size_t size) {
    const auto taken = parse_config(fuzz::text_of(data, size), "posthorn.toml");
    if (!taken) {
        demand(taken.error().code() == error_code::invalid_configuration,
               "a configuration that is none has its own error");
        return demand(std::string_view(taken.error().what()).size() > 10, "an error says why");
    }
    demand(check_config(*taken).has_value(), "what was taken holds");
    check_ranges(*taken);
    check_shown(*taken);
}

}  // namespace posthorn
