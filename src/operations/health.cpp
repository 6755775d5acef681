#include "operations/health.hpp"

#include <algorithm>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/text/counted.hpp"
#include "base/text/http_url.hpp"
#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

std::string shown(const bounded_count& number) {
    return fmt::format("{}{}", number.at_least ? "more than " : "", number.value);
}

/// What it counts, and what that does, in the form for one and for more.
std::string shown(const bounded_count& number, std::string_view one, std::string_view many) {
    return number.at_least ? fmt::format("more than {} {}", number.value, many)
                           : counted(number.value, one, many);
}

// Of a destination that only a setting keeps from being one.
std::string_view setting_for(std::string_view destination, std::string_view why) {
    const bool is_off = has_http_scheme(destination) && why.starts_with("no route to ");
    return is_off ? "; messages go to a URL with urls.enabled = true" : "";
}

// One destination is named, or the three with the most of them.
std::string why_undeliverable(const outbox_overview& outbox) {
    const auto all =
        shown(outbox.undeliverable, "message is undeliverable", "messages are undeliverable");
    const auto causes = undeliverable_causes(outbox.backlog);
    if (causes.size() < 2)
        return fmt::format(
            "{}: '{}' has no route, no secret or no handler for {}{}", all,
            outbox.undeliverable_destination, outbox.undeliverable.value == 1 ? "it" : "them",
            setting_for(outbox.undeliverable_destination, outbox.undeliverable_error));
    std::string names;
    std::string_view setting;
    std::int64_t named = 0;
    for (const auto& one : causes) {
        names += fmt::format("{}'{}' ({})", names.empty() ? "" : ", ", one.destination,
                             shown(one.count));
        named += one.count.value;
        if (setting.empty()) setting = setting_for(one.destination, one.error);
    }
    return fmt::format("{}: {}{} have no route, no secret or no handler for them{}", all, names,
                       named < outbox.undeliverable.value ? " and others" : "", setting);
}

void worsen(health_verdict& verdict, std::string why) {
    verdict.status = std::max(verdict.status, health_level::yellow);
    verdict.reasons.push_back(std::move(why));
}

std::string whom_the_oldest_is_for(const std::vector<destination_backlog>& backlog) {
    const destination_backlog* first = nullptr;
    for (const auto& one : backlog)
        if (one.oldest && (first == nullptr || *one.oldest < *first->oldest)) first = &one;
    return first == nullptr ? "" : fmt::format("; it is for '{}'", first->destination);
}

void judge_backlog(const outbox_overview& outbox, health_verdict& verdict) {
    if (outbox.pending.value >= pending_green_below)
        worsen(verdict, fmt::format("{}{}", shown(outbox.pending, "message waits", "messages wait"),
                                    outbox.pending.value > pending_warned_above
                                        ? "; the destinations may be too slow, or down"
                                        : ""));
    if (outbox.oldest_age >= age_green_below)
        worsen(verdict,
               fmt::format("the oldest message has waited for {} s{}",
                           std::chrono::floor<std::chrono::seconds>(outbox.oldest_age).count(),
                           whom_the_oldest_is_for(outbox.backlog)));
}

// Work that was lost, or that waits for a person though nothing says so where it stands.
// A subscriber's endpoint that is gone is a worry for its owner; a message is a worry for us.
void judge_dead(const outbox_overview& outbox, health_verdict& verdict) {
    if (outbox.dead_messages.value > 0) {
        verdict.status = health_level::red;
        verdict.reasons.push_back(shown(outbox.dead_messages,
                                        "message is dead and waits for a person",
                                        "messages are dead and wait for a person"));
    }
    const bounded_count deliveries{
        .value = std::max<std::int64_t>(0, outbox.dead.value - outbox.dead_messages.value),
        .at_least = outbox.dead.at_least};
    if (deliveries.value > 0)
        worsen(verdict, shown(deliveries, "delivery to a subscriber was given up",
                              "deliveries to subscribers were given up") +
                            "; see 'posthorn webhooks list', then 'posthorn webhooks recover'");
}

void judge_given_up(const outbox_overview& outbox, health_verdict& verdict) {
    if (outbox.expired.value > 0)
        worsen(verdict, fmt::format("{}; see 'posthorn dead list --status Expired', and requeue or "
                                    "resolve {}",
                                    shown(outbox.expired, "message expired before it was delivered",
                                          "messages expired before they were delivered"),
                                    outbox.expired.value == 1 ? "it" : "them"));
    if (const auto blocked = describe(outbox.blocked); !blocked.empty())
        worsen(verdict, blocked + "; requeue, resolve or delete that one");
}

}  // namespace

std::string_view to_string(health_level status) noexcept {
    switch (status) {
        case health_level::green: return "green";
        case health_level::yellow: return "yellow";
        case health_level::red: return "red";
    }
    POSTHORN_ASSERT(false);
    return {};
}

std::string describe(const blocked_report& blocked) {
    if (blocked.keys.empty()) return {};
    constexpr std::size_t name_characters_max = 64;
    const auto& [key, by, waiting] = blocked.keys.front();
    return fmt::format(
        "{} that was given up, such as {} for '{}' behind {} ({}{}) of order key '{}'",
        shown(waiting_in(blocked), "message waits behind one of its order key",
              "messages wait behind one of their order key"),
        shown(waiting), key.destination, by.id, to_string(by.status),
        by.since ? " since " + to_iso8601(*by.since) : "",
        clean_utf8(key.order_key, name_characters_max));
}

health_verdict judge_health(const health_facts& facts) {
    const auto& outbox = facts.outbox;
    health_verdict verdict{.reasons = facts.broken};
    if (!facts.broken.empty()) {
        verdict.status = health_level::red;
        verdict.working = false;
    }
    for (const auto& [how, what] : facts.worries) {
        verdict.status = std::max(verdict.status, how);
        verdict.reasons.push_back(what);
    }
    judge_dead(outbox, verdict);
    judge_given_up(outbox, verdict);
    if (outbox.undeliverable.value > 0) {
        verdict.undeliverable = true;
        worsen(verdict, why_undeliverable(outbox));
    }
    for (auto& why : reasons_of(facts.lanes)) worsen(verdict, std::move(why));
    judge_backlog(outbox, verdict);
    return verdict;
}

std::string render_health(const health_report& report) {
    return boost::json::serialize(boost::json::object{{"status", to_string(report.status)},
                                                      {"service", report.service},
                                                      {"version", report.version}});
}

}  // namespace posthorn
