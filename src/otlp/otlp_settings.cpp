#include "otlp/otlp_settings.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "base/text/http_url.hpp"
#include "base/text/percent.hpp"
#include "base/text/referenced_text.hpp"
#include "base/text/utf8.hpp"
#include "base/text/without_password.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

// What stands for "as the variables of OpenTelemetry say, or their default".
constexpr std::string_view by_variable = "auto";
constexpr std::string_view nothing = "none";

template <class Text>
feature_value text_value(Text text) {
    return feature_value(std::string(text));
}

constexpr std::array keys{
    feature_key{"endpoint",
                "where an OpenTelemetry collector listens (http:// or https://), or none",
                [] { return text_value(nothing); }},
    feature_key{
        "headers",
        "headers of each request, NAME=VALUE,…: env:NAME or file:PATH where they lie, or none",
        [] { return text_value(nothing); }},
    feature_key{"certificate", "a file of PEM with the authorities that vouch for the collector",
                [] { return text_value(nothing); }},
    feature_key{"compression", "gzip, none, or auto: as OTEL_EXPORTER_OTLP_COMPRESSION says",
                [] { return text_value(by_variable); }},
    feature_key{"timeout", "how long the collector may take to answer; 0s: 10s, or as OTEL_* say",
                [] { return feature_value(milliseconds::zero()); }},
    feature_key{"service_name", "the service's name there; auto: OTEL_SERVICE_NAME, or service.id",
                [] { return text_value(by_variable); }},
    feature_key{"resource", "more about the service, KEY=VALUE,…; auto: OTEL_RESOURCE_ATTRIBUTES",
                [] { return text_value(by_variable); }},
    feature_key{"traces", "whether spans are exported", [] { return feature_value(true); }},
    feature_key{"metrics", "whether metrics are exported", [] { return feature_value(true); }},
    feature_key{"sampler",
                "which traces begin here: always_on, always_off, traceidratio, or with parentbased_"
                " before it; auto: OTEL_TRACES_SAMPLER, or parentbased_always_on",
                [] { return text_value(by_variable); }},
    feature_key{"ratio", "the share of traces that traceidratio keeps, 0 to 1; -1: as OTEL_* say",
                [] { return feature_value(-1.0); }},
    feature_key{"spans_held", "so many spans wait at most, the rest is dropped; 0: 2048, or OTEL_*",
                [] { return feature_value(std::int64_t{0}); }},
    feature_key{"batch", "so many spans go in one request; 0: 512, or as OTEL_* say",
                [] { return feature_value(std::int64_t{0}); }},
    feature_key{"delay", "spans wait no longer than that; 0s: 5s, or as OTEL_* say",
                [] { return feature_value(milliseconds::zero()); }},
    feature_key{"interval", "how often metrics are sent; 0s: 60s, or as OTEL_* say",
                [] { return feature_value(milliseconds::zero()); }},
    feature_key{"stop_limit", "how long a stop waits for the last spans",
                [] { return feature_value(milliseconds(std::chrono::seconds{3})); }},
    feature_key{"profile", "in whose words: messaging (OpenTelemetry's) or outboxnet",
                [] { return text_value("messaging"); }},
};

std::unexpected<error> wrong(std::string_view key, std::string_view value,
                             std::string_view wanted) {
    return fail(error_code::invalid_configuration, "otlp.{} is '{}'; write {}", key,
                clean_utf8(value, 64), wanted);
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// `key=value,key=value`, the values percent-encoded.
std::optional<std::vector<std::pair<std::string, std::string>>> pairs_in(std::string_view text) {
    std::vector<std::pair<std::string, std::string>> found;
    for (const auto part : std::views::split(text, ',')) {
        const auto pair = trimmed(std::string_view(part));
        if (pair.empty()) continue;
        const auto sign = pair.find('=');
        const auto key = trimmed(pair.substr(0, sign));
        if (sign == std::string_view::npos || key.empty()) return std::nullopt;
        auto value = percent_decode(trimmed(pair.substr(sign + 1)));
        if (!value) return std::nullopt;
        found.emplace_back(key, *std::move(value));
    }
    return found;
}

bool is_header(const std::pair<std::string, std::string>& one) {
    const auto is_name = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("!#$%&'*+-.^_`|~").contains(c);
    };
    return std::ranges::all_of(one.first, is_name) &&
           std::ranges::all_of(one.second, [](char c) { return c >= ' ' && c <= '~'; });
}

std::string with_path(std::string base, std::string_view path) {
    while (base.ends_with('/')) base.pop_back();
    return base + std::string(path);
}

/// Reads the section, then the variables for what it leaves open.
class reading {
public:
    reading(const feature_settings& said, const variable_lookup& variables)
        : said_(said), variables_(variables) {}

    result<otlp_options> all() {
        POSTHORN_TRY(read_where());
        if (is_true("OTEL_SDK_DISABLED")) return otlp_options{};
        if (!made_.is_on()) return std::move(made_);
        POSTHORN_TRY(read_headers());
        POSTHORN_TRY(read_transport());
        POSTHORN_TRY(read_resource());
        POSTHORN_TRY(read_sampling());
        POSTHORN_TRY(read_sizes());
        return std::move(made_);
    }

private:
    /// What the section says; nothing where it leaves that to a variable.
    std::optional<std::string> text(std::string_view key) const {
        auto value = said_.get<std::string>(key);
        if (value == by_variable || value == nothing || value.empty()) return std::nullopt;
        return value;
    }
    std::optional<std::string> variable(std::string_view name) const { return variables_(name); }
    bool is_true(std::string_view name) const {
        const auto value = variable(name).value_or("");
        return value == "true" || value == "TRUE" || value == "True";
    }
    void warn(std::string_view name, std::string_view wanted) {
        made_.warnings.push_back(fmt::format("{} cannot be used; set it to {}", name, wanted));
    }

    result<> read_where() {
        const bool traces = said_.get<bool>("traces") && exports("OTEL_TRACES_EXPORTER");
        const bool metrics = said_.get<bool>("metrics") && exports("OTEL_METRICS_EXPORTER");
        constexpr std::string_view wanted = "an address such as \"http://localhost:4318\", or none";
        if (auto base = text("endpoint")) {
            if (!parse_http_url(*base)) return wrong("endpoint", without_password(*base), wanted);
            if (traces) made_.traces_url = with_path(*base, "/v1/traces");
            if (metrics) made_.metrics_url = with_path(*base, "/v1/metrics");
        } else {
            if (traces)
                made_.traces_url = url_of("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "/v1/traces");
            if (metrics)
                made_.metrics_url = url_of("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "/v1/metrics");
        }
        if (!made_.is_on()) return {};
        const auto protocol = variable("OTEL_EXPORTER_OTLP_PROTOCOL");
        if (protocol && *protocol != "http/protobuf")
            warn("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf, the only one that is spoken here");
        return {};
    }
    bool exports(std::string_view name) {
        const auto value = variable(name);
        if (!value || *value == "otlp") return true;
        if (*value != "none") warn(name, "otlp or none");
        return *value != "none";
    }
    /// The variable of the one signal is the whole address, that of both only its beginning.
    std::string url_of(std::string_view own, std::string_view path) {
        constexpr std::string_view common = "OTEL_EXPORTER_OTLP_ENDPOINT";
        constexpr std::string_view wanted = "an address such as http://localhost:4318";
        if (auto whole = variable(own)) {
            if (parse_http_url(*whole)) return *std::move(whole);
            warn(own, wanted);
            return {};
        }
        auto base = variable(common);
        if (!base) return {};
        if (parse_http_url(*base)) return with_path(*std::move(base), path);
        warn(common, wanted);
        return {};
    }

    result<> read_headers() {
        std::string list;
        const auto place = text("headers");
        if (place) {
            auto read = referenced_text(*place);
            if (!read)
                return fail(error_code::invalid_configuration, "otlp.headers: {}",
                            read.error().what());
            list = *std::move(read);
            list.erase(list.find_last_not_of(" \r\n\t") + 1);
        } else {
            list = variable("OTEL_EXPORTER_OTLP_HEADERS").value_or("");
        }
        const auto pairs = pairs_in(list);
        if (pairs && std::ranges::all_of(*pairs, is_header)) {
            for (const auto& [name, value] : *pairs) made_.headers.add(name, value);
        } else if (place) {  // Not quoted: it may be the secret itself.
            return fail(error_code::invalid_configuration,
                        "otlp.headers: what lies there is not a list of headers; write "
                        "NAME=VALUE,NAME=VALUE, with percent-encoded values");
        } else {
            warn("OTEL_EXPORTER_OTLP_HEADERS",
                 "NAME=VALUE,NAME=VALUE, with percent-encoded values");
        }
        return {};
    }

    result<> read_transport() {
        made_.certificate = text("certificate")
                                .or_else([&] { return variable("OTEL_EXPORTER_OTLP_CERTIFICATE"); })
                                .value_or("");
        const auto& compression = said_.get<std::string>("compression");
        if (compression == by_variable) {
            const auto value = variable("OTEL_EXPORTER_OTLP_COMPRESSION").value_or("none");
            made_.gzip = value == "gzip";
            if (value != "gzip" && value != "none")
                warn("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip or none");
        } else if (compression == "gzip" || compression == nothing) {
            made_.gzip = compression == "gzip";
        } else {
            return wrong("compression", compression, "gzip, none or auto");
        }
        POSTHORN_TRY(read_time("timeout", "OTEL_BSP_EXPORT_TIMEOUT", made_.timeout));
        POSTHORN_TRY(read_time("timeout", "OTEL_EXPORTER_OTLP_TIMEOUT", made_.timeout));
        POSTHORN_TRY(read_time("delay", "OTEL_BSP_SCHEDULE_DELAY", made_.delay));
        POSTHORN_TRY(read_time("interval", "OTEL_METRIC_EXPORT_INTERVAL", made_.interval));
        made_.stop_limit = said_.get<milliseconds>("stop_limit");
        if (made_.stop_limit < milliseconds::zero())
            return wrong("stop_limit", "negative", "a time such as \"3s\"");
        return {};
    }
    result<> read_time(std::string_view key, std::string_view name, milliseconds& into) {
        constexpr milliseconds most = std::chrono::hours{24};
        const auto value = said_.get<milliseconds>(key);
        if (value < milliseconds::zero() || value > most)
            return wrong(key, fmt::format("{} ms", value.count()),
                         "a time of a day at most, or 0s for the default");
        if (value > milliseconds::zero()) {
            into = value;
            return {};
        }
        const auto told = variable(name);
        if (!told) return {};
        const auto number = number_in<std::int64_t>(*told);
        if (number && *number > 0 && *number <= most.count())
            into = milliseconds(*number);
        else
            warn(name, "a number of milliseconds, such as 5000");
        return {};
    }

    result<> read_resource() {
        const auto own = text("resource");
        auto pairs = pairs_in(own ? *own : variable("OTEL_RESOURCE_ATTRIBUTES").value_or(""));
        if (!pairs && own) return wrong("resource", *own, "KEY=VALUE,KEY=VALUE");
        if (!pairs) warn("OTEL_RESOURCE_ATTRIBUTES", "KEY=VALUE,KEY=VALUE");
        if (pairs) made_.resource = *std::move(pairs);
        auto name = text("service_name").or_else([&] { return variable("OTEL_SERVICE_NAME"); });
        if (!name) return {};
        std::erase_if(made_.resource,
                      [](const auto& each) { return each.first == "service.name"; });
        made_.resource.emplace_back("service.name", *std::move(name));
        return {};
    }

    result<> read_sampling() {
        constexpr std::string_view wanted =
            "always_on, always_off, traceidratio, or one of them with parentbased_ before it";
        const auto& profile = said_.get<std::string>("profile");
        const auto known = parse_profile(profile);
        if (!known) return wrong("profile", profile, "messaging or outboxnet");
        made_.profile = *known;
        const auto own_ratio = said_.get<double>("ratio");
        if (!(own_ratio == -1 || (own_ratio >= 0 && own_ratio <= 1)))
            return wrong("ratio", fmt::format("{}", own_ratio), "a number from 0 to 1, or -1");
        double ratio = own_ratio < 0 ? 1 : own_ratio;
        if (const auto told = variable("OTEL_TRACES_SAMPLER_ARG"); told && own_ratio < 0) {
            const auto number = number_in<double>(*told);
            if (number && *number >= 0 && *number <= 1)
                ratio = *number;
            else
                warn("OTEL_TRACES_SAMPLER_ARG", "a number from 0 to 1");
        }
        if (const auto own = text("sampler")) {
            const auto how = parse_sampler(*own, ratio);
            if (!how) return wrong("sampler", *own, wanted);
            made_.tracing.how = *how;
        } else if (const auto told = variable("OTEL_TRACES_SAMPLER")) {
            if (const auto how = parse_sampler(*told, ratio))
                made_.tracing.how = *how;
            else
                warn("OTEL_TRACES_SAMPLER", wanted);
        } else if (own_ratio >= 0) {  // Said, so it is meant.
            made_.tracing.how = {.of_roots = sampler::kind::ratio, .ratio = ratio};
        }
        return {};
    }

    result<> read_sizes() {
        POSTHORN_TRY(read_size("spans_held", "OTEL_BSP_MAX_QUEUE_SIZE", made_.tracing.spans_max));
        POSTHORN_TRY(read_size("batch", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", made_.batch_spans));
        made_.batch_spans = std::min(made_.batch_spans, made_.tracing.spans_max);
        made_.tracing.wake_at = made_.batch_spans;
        return {};
    }
    result<> read_size(std::string_view key, std::string_view name, std::size_t& into) {
        constexpr std::int64_t most = 1'000'000;
        const auto value = said_.get<std::int64_t>(key);
        if (value < 0 || value > most)
            return wrong(key, fmt::format("{}", value), "1 to 1000000, or 0 for the default");
        if (value > 0) {
            into = static_cast<std::size_t>(value);
            return {};
        }
        const auto told = variable(name);
        if (!told) return {};
        const auto number = number_in<std::int64_t>(*told);
        if (number && *number > 0 && *number <= most)
            into = static_cast<std::size_t>(*number);
        else
            warn(name, "a number from 1 to 1000000");
        return {};
    }

    const feature_settings& said_;
    const variable_lookup& variables_;
    otlp_options made_{};
};

}  // namespace

std::span<const feature_key> otlp_keys() noexcept { return keys; }

variable_lookup process_variables() {
    return [](std::string_view name) -> std::optional<std::string> {
        // Nothing in the process sets one. NOLINTNEXTLINE(concurrency-mt-unsafe)
        const char* const value = std::getenv(std::string(name).c_str());
        if (value == nullptr || *value == '\0') return std::nullopt;
        return std::string(value);
    };
}

result<otlp_options> read_otlp_options(const feature_settings& said,
                                       const variable_lookup& variables) {
    return reading(said, variables).all();
}

}  // namespace posthorn
