#include "webhook/configured_subscribers.hpp"

#include <algorithm>
#include <charconv>

#include "webhook/secrets/referenced_secret.hpp"
#include "webhook/subscription_index.hpp"
#include "webhook/webhook_ids.hpp"

namespace posthorn {
namespace {

constexpr std::string_view default_tenant = "default";

/// One entry, as far as it is read.
class entry_reader {
public:
    entry_reader(std::size_t number, const feature_tables::fields& from)
        : number_(number), from_(from) {}

    result<subscription> read(bool plain_http) {
        subscription one;
        one.is_configured = true;
        for (const auto& [name, value] : from_) POSTHORN_TRY(take(one, name, value));
        if (one.url.empty()) return wrong("it has no url");
        if (one.secret.empty()) return wrong("it has no secret");
        if (std::ranges::equal(one.tenant, default_tenant, {}, lower)) {
            one.is_default = true;
            one.tenant.clear();
        }
        if (const auto fit = check(one, plain_http); !fit) return wrong(fit.error().what());
        webhook_target signs{.of = one};
        if (const auto key = add_key(signs, one.secret); !key) return wrong(key.error().what());
        one.id = configured_id(one.url, one.is_default ? default_tenant : one.tenant);
        return one;
    }

private:
    static char lower(char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    }

    [[nodiscard]] std::unexpected<error> wrong(std::string_view what) const {
        return fail(error_code::invalid_configuration, "webhooks.subscribers, entry {}: {}",
                    number_, what);
    }

    result<> take(subscription& one, std::string_view name, const std::string& value) {
        if (name == "url")
            one.url = value;
        else if (name == "tenant")
            one.tenant = value;
        else if (name == "type")
            one.event_type = value;
        else if (name == "headers")
            one.headers = value;
        else if (name == "filter")
            one.filter = value;
        else if (name == "secret")
            return take_secret(one, value);
        else if (name == "style")
            return take_one_of(one.style, parse_webhook_style(value), "style", value);
        else if (name == "form")
            return take_one_of(one.form, parse_webhook_form(value), "form", value);
        else if (name == "max_retries")
            return take_number(one.max_retries, name, value);
        else if (name == "timeout_seconds") {
            std::int64_t seconds = 0;
            POSTHORN_TRY(take_number(seconds, name, value));
            one.timeout = std::chrono::seconds(seconds);
        } else
            return wrong(
                fmt::format("unknown field '{}'; write url, secret, tenant, type, style, form, "
                            "headers, filter, "
                            "max_retries or timeout_seconds",
                            name));
        return {};
    }

    result<> take_secret(subscription& one, const std::string& value) {
        const bool elsewhere = value.starts_with("env:") || value.starts_with("file:") ||
                               value.starts_with("command:");
        if (!elsewhere)
            return wrong(
                "its secret has to lie elsewhere; write env:NAME, file:PATH or command:WORDS");
        POSTHORN_LET(text, referenced_secret(value));
        one.secret = std::move(text);
        return {};
    }

    template <class T>
    result<> take_one_of(T& into, std::optional<T> read, std::string_view name,
                         std::string_view value) {
        if (!read) return wrong(fmt::format("its {} cannot be '{}'", name, value));
        into = *read;
        return {};
    }

    template <class T>
    result<> take_number(T& into, std::string_view name, std::string_view value) {
        const auto [end, bad] = std::from_chars(value.begin(), value.end(), into);
        if (bad == std::errc{} && end == value.end()) return {};
        return wrong(fmt::format("its {} cannot be '{}'", name, value));
    }

    std::size_t number_;
    const feature_tables::fields& from_;
};

}  // namespace

result<std::vector<subscription>> read_configured_subscribers(const feature_tables& said,
                                                              bool plain_http) {
    std::vector<subscription> all;
    for (const auto& item : said.items) {
        const auto number = all.size() + 1;
        POSTHORN_LET(one, entry_reader(number, item).read(plain_http));
        if (std::ranges::find(all, one.id, &subscription::id) != all.end())
            return fail(error_code::invalid_configuration,
                        "webhooks.subscribers, entry {}: another one has its url and tenant",
                        number);
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace posthorn
