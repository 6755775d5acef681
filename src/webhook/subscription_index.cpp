#include "webhook/subscription_index.hpp"

#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "message/json_check.hpp"
#include "security/webhook_signature.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

// Tenants in the configuration are found however they are written.
std::string lower(std::string_view text) {
    std::string made(text);
    for (auto& each : made)
        if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
    return made;
}

// Once for all who have a filter. The parser's own limit of depth is below that of payloads, and an
// event beyond it would be wanted by none of them.
json::value envelope_of(const webhook_event& event) {
    boost::system::error_code wrong;
    auto data = json::parse(event.payload, wrong, {}, {.max_depth = json_depth_max});
    return json::object{{"type", event.type}, {"data", wrong ? json::value() : std::move(data)}};
}

result<secret> open(const secret_box* box, std::string_view stored, std::string_view place) {
    if (!stored.starts_with("sealed1:"))
        return secret(std::as_bytes(std::span(stored.data(), stored.size())));
    if (box == nullptr)
        return fail(error_code::secret_unavailable,
                    "its secret is sealed and no key is configured; set webhooks.key");
    return box->open(stored, place);
}

result<> add_secret(webhook_target& to, const secret_box* box, std::string_view stored) {
    POSTHORN_LET(text, open(box, stored, place_of(to.of.id, to.of.tenant)));
    return add_key(to, {reinterpret_cast<const char*>(text.reveal().data()), text.reveal().size()});
}

result<> complete(webhook_target& to, const secret_box* box, wall_time now) {
    if (!to.of.too_large.empty())
        return fail(error_code::invalid_argument,
                    "its {} in webhook_subscriptions is too large to be read", to.of.too_large);
    if (to.of.id.is_nil()) return fail(error_code::invalid_argument, "its id is not a UUID");
    POSTHORN_TRY(add_secret(to, box, to.of.secret));
    // One that cannot be opened any more signs no more; the present one is what counts.
    if (to.of.previous_until && *to.of.previous_until > now && !to.of.previous_secret.empty())
        std::ignore = add_secret(to, box, to.of.previous_secret);
    POSTHORN_LET(custom, parse_custom_headers(to.of.headers));
    to.custom = std::move(custom);
    POSTHORN_LET(filter, payload_filter::parse(to.of.filter));
    to.filter = std::move(filter);
    return {};
}

}  // namespace

result<> add_key(webhook_target& to, std::string_view shown) {
    if (to.of.style != webhook_style::outbox) {
        POSTHORN_LET(key, parse_webhook_key(shown));
        to.live.push_back(std::move(key));
    }
    if (to.of.style == webhook_style::standard) return {};
    if (shown.starts_with("whsk_"))
        return fail(error_code::secret_unavailable,
                    "a key pair signs in the style 'standard' alone; rotate its secret to whsec_");
    POSTHORN_LET(as_text, parse_outbox_secret(shown));
    to.texts.push_back(std::move(as_text));
    return {};
}

std::string place_of(const uuid& subscription, std::string_view tenant) {
    return subscription.to_string() + "/" + std::string(tenant);
}

webhook_target make_target(subscription of, const secret_box* box, wall_time now) {
    webhook_target made{.of = std::move(of)};
    if (const auto whole = complete(made, box, now); !whole) made.trouble = whole.error().what();
    return made;
}

subscription_set::subscription_set(std::int64_t version, std::vector<target> all,
                                   std::int64_t given)
    : version_(version), given_(given), all_(std::move(all)) {
    for (const auto& each : all_) {
        // Plain SQL may have written an id that is none, or one twice in other letters: their
        // deliveries would have one id, and no event could be fanned out.
        if (each->of.id.is_nil() || !by_id_.emplace(each->of.id, each).second) continue;
        if (each->of.state == subscription_state::disabled) continue;
        if (each->of.too_large == "tenant") continue;  // Without it, it would hear of every tenant.
        if (each->of.is_default)
            defaults_.push_back(each);
        else if (each->of.is_configured && !each->of.tenant.empty())
            configured_[lower(each->of.tenant)].push_back(each);
        else
            by_tenant_[each->of.tenant].push_back(each);
    }
}

subscription_set::target subscription_set::find(const uuid& id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
}

std::vector<subscription_set::target> subscription_set::of(const webhook_event& event,
                                                           std::string_view tenant) const {
    std::vector<target> told;
    std::optional<json::value> envelope;
    const auto choose = [&](const std::vector<target>& some) {
        for (const auto& each : some) {
            if (!covers(each->of.event_type, event.type)) continue;
            if (each->filter.asks()) {
                if (!envelope) envelope = envelope_of(event);
                if (!each->filter.wants(*envelope)) continue;
            }
            told.push_back(each);
        }
    };
    const auto look = [&](std::string_view whose) {
        if (const auto some = by_tenant_.find(whose); some != by_tenant_.end())
            choose(some->second);
    };
    look({});
    if (!tenant.empty()) look(tenant);
    if (const auto some = configured_.find(lower(tenant)); some != configured_.end())
        choose(some->second);
    else
        choose(defaults_);
    return told;
}

bool subscription_set::leaves_out(std::string_view tenant) const {
    return !configured_.empty() && defaults_.empty() && !configured_.contains(lower(tenant));
}

task<result<std::shared_ptr<const subscription_set>>> subscription_index::refresh() {
    asked_at_ = env_.clock.steady();
    const auto look = ++looks_;
    const auto before = now();
    std::shared_ptr<const subscription_set> fresh = before;
    const auto at = env_.clock.wall();
    const auto given = [this] {
        const std::scoped_lock lock(mutex_);
        return given_;
    }();
    POSTHORN_CO_TRY(co_await read(where_, env_.readers, [&](store_reader& from) -> result<> {
        POSTHORN_LET(version, read_subscriptions_version(from));
        const bool is_known = version && *version == before->version();
        if (is_known && given.number == before->given()) return {};
        POSTHORN_LET(rows, read_subscriptions(from));
        std::vector<subscription_set::target> all;
        auto ours = configured_;
        ours.insert(ours.end(), given.all.begin(), given.all.end());
        for (auto& each : ours) {
            each.created_at = known_since_;
            all.push_back(
                std::make_shared<const webhook_target>(make_target(std::move(each), nullptr, at)));
        }
        for (auto& row : rows)
            all.push_back(
                std::make_shared<const webhook_target>(make_target(std::move(row), box_, at)));
        fresh = std::make_shared<const subscription_set>(version.value_or(unknown_version),
                                                         std::move(all), given.number);
        return {};
    }));
    const std::scoped_lock lock(mutex_);
    // One that began later may have ended before. Versions may go back: a program may write any.
    if (fresh != before && look > present_look_) {
        present_ = fresh;
        present_look_ = look;
    }
    co_return present_;
}

task<result<std::shared_ptr<const subscription_set>>> subscription_index::recent() {
    const auto doubts = doubts_.load();
    if (doubts == doubts_settled_ && asked_at_ &&
        env_.clock.steady() - *asked_at_ < std::chrono::seconds{1})
        co_return now();
    auto fresh = co_await refresh();
    if (fresh && doubts_settled_ < doubts) doubts_settled_ = doubts;
    co_return fresh;
}

void subscription_index::give(std::vector<subscription> all) {
    {
        const std::scoped_lock lock(mutex_);
        given_ = {given_.number + 1, std::move(all)};
    }
    doubt();
}

std::shared_ptr<const subscription_set> subscription_index::now() const {
    const std::scoped_lock lock(mutex_);
    return present_;
}

}  // namespace posthorn
