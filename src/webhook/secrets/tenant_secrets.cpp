#include "webhook/secrets/tenant_secrets.hpp"

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include "base/async/run_on.hpp"
#include "base/planted.hpp"
#include "base/text/referenced_text.hpp"

namespace posthorn {
namespace {

constexpr std::string_view placeholder = "{tenant}";
constexpr std::size_t known_max = 10'000;

bool is_plain(std::string_view name) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    };
    return !name.empty() && name.front() != '.' && std::ranges::all_of(name, fits);
}

}  // namespace

task<subscription_set::target> tenant_secrets::apply(subscription_set::target to) {
    if (options_.pattern.empty() && !find_) co_return to;
    const auto text = co_await find(to->of.tenant.empty() ? to->of.id.to_string() : to->of.tenant);
    if (text && !*text) co_return to;
    auto own = *to;
    own.live.clear();
    own.texts.clear();
    if (!text) {
        own.trouble = fmt::format("the secret of its tenant: {}", text.error().what());
        co_return std::make_shared<const webhook_target>(std::move(own));
    }
    const auto bytes = (*text)->reveal();
    const std::string_view shown(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (const auto fits = add_key(own, shown); !fits)
        own.trouble = fmt::format("the secret of its tenant: {}", fits.error().what());
    co_return std::make_shared<const webhook_target>(std::move(own));
}

task<result<tenant_secrets::found>> tenant_secrets::find(std::string name) {
    const std::string key = POSTHORN_PLANTED(secret_of_another_tenant) ? "" : name;
    if (const auto known = known_.find(key);
        known != known_.end() && now_.steady() < known->second.until)
        co_return known->second.text;
    POSTHORN_CO_LET(text, co_await ask(name));
    if (known_.size() >= known_max) known_.clear();
    known_.insert_or_assign(key, entry{.until = now_.steady() + options_.kept, .text = text});
    co_return text;
}

// A program may ask a service of its own, and wait for it.
task<result<tenant_secrets::found>> tenant_secrets::ask(std::string name) const {
    if (!find_) co_return is_plain(name) ? read(name) : std::nullopt;
    co_return co_await run_on(workers_, [this, name]() -> result<found> {
        try {
            const auto text = find_(name);
            if (!text) return found{};
            return found(secret(std::as_bytes(std::span(text->data(), text->size()))));
        } catch (const std::exception& failure) {
            return fail(error_code::secret_unavailable, "{}", failure.what());
        } catch (...) {
            return fail(error_code::secret_unavailable, "the program did not find it");
        }
    });
}

// One that cannot be read is one that there is not: the stored secret is there for that.
tenant_secrets::found tenant_secrets::read(std::string_view name) const {
    auto reference = options_.pattern;
    for (auto at = reference.find(placeholder); at != reference.npos;
         at = reference.find(placeholder, at + name.size()))
        reference.replace(at, placeholder.size(), name);
    auto text = referenced_text(reference);
    if (!text) return std::nullopt;
    text->erase(text->find_last_not_of(" \r\n\t") + 1);
    return secret(std::as_bytes(std::span(text->data(), text->size())));
}

}  // namespace posthorn
