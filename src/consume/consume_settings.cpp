#include "consume/consume_settings.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/ranges.h>

#include "base/text/referenced_text.hpp"
#include "base/text/utf8.hpp"
#include "consume/broker_kinds.hpp"

namespace posthorn {
namespace {

constexpr std::size_t name_max = 64;
constexpr std::size_t sources_max = 32;

/// It stands in labels of metrics and in addresses of the API.
bool is_name(std::string_view text) {
    const auto fits = [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
               (each >= '0' && each <= '9') || each == '-' || each == '_' || each == '.';
    };
    return !text.empty() && text.size() <= name_max && std::ranges::all_of(text, fits);
}

bool lies_elsewhere(std::string_view text) {
    const auto leads = [&](std::string_view by) {
        return text.starts_with(by) && text.size() > by.size();
    };
    return leads("env:") || leads("file:");
}

/// One entry, as far as it is read.
class source_reader {
public:
    source_reader(std::size_t number, const feature_tables::fields& from)
        : number_(number), from_(from) {}

    result<consume_source> read() {
        consume_source one{.name = text("name"), .url = text("url")};
        if (!is_name(one.name))
            return wrong("its name has to be 1 to 64 letters, digits, '-', '_' and '.'");
        one.kind = broker_kind_of(one.url);
        if (one.kind == nullptr) return wrong("its url is that of no broker");
        if (!one.kind->left_out.empty()) return wrong(one.kind->left_out);
        for (const auto& [name, value] : from_) POSTHORN_TRY(take(one, name, value));
        for (const auto name : one.kind->required)
            if (!one.options.contains(name))
                return wrong(fmt::format("it has no {}; write {} = \"…\"", name, name));
        if (const auto fits = one.kind->check(one.url, one.options); !fits)
            return wrong(fits.error().what());
        if (one.rules.source.empty()) one.rules.source = one.name;
        if (one.rules.id == consume_id::offset && !one.kind->has_offsets)
            return wrong("its broker has no offsets; write id = \"message\" or \"hash\"");
        return one;
    }

private:
    [[nodiscard]] std::unexpected<error> wrong(std::string_view what) const {
        return fail(error_code::invalid_configuration, "consume.sources, entry {}: {}", number_,
                    what);
    }

    [[nodiscard]] std::string text(std::string_view name) const {
        const auto found = from_.find(name);
        return found == from_.end() ? std::string() : found->second;
    }

    result<> take(consume_source& one, std::string_view name, const std::string& value) {
        const auto& options = one.kind->options;
        if (name == "name" || name == "url") return {};
        if (std::ranges::find(options, name) != options.end())
            one.options.insert_or_assign(std::string(name), value);
        else if (name == "endpoint")
            one.rules.endpoint = value;
        else if (name == "source")
            one.rules.source = value;
        else if (name == "authority")
            one.authority = value;
        else if (name == "id")
            return take_id(one.rules.id, value);
        else if (name == "password")
            return take_password(one, value);
        else if (name == "window")
            return take_number(one.window, name, value, 10'000);
        else if (name == "window_kib")
            return take_number(one.window_kib, name, value, 1'048'576);
        else if (name == "tries")
            return take_tries(one, value);
        else
            return wrong(
                fmt::format("unknown field '{}'; write name, url, password, authority, endpoint, "
                            "source, id, tries, window, window_kib or {}",
                            clean_utf8(name, 100), fmt::join(options, ", ")));
        if (value.empty()) return wrong(fmt::format("its {} is empty", name));
        return {};
    }

    result<> take_id(consume_id& into, std::string_view value) {
        if (value == "message")
            into = consume_id::message;
        else if (value == "hash")
            into = consume_id::hash;
        else if (value == "offset")
            into = consume_id::offset;
        else
            return wrong("its id has to be \"message\", \"hash\" or \"offset\"");
        return {};
    }

    result<> take_password(consume_source& one, const std::string& value) {
        if (!lies_elsewhere(value))
            return wrong("its password has to lie elsewhere; write \"env:NAME\" or \"file:PATH\"");
        one.password = value;
        return {};
    }

    result<> take_tries(consume_source& one, const std::string& value) {
        std::int64_t tries = 0;
        POSTHORN_TRY(take_number(tries, "tries", value, 1'000));
        one.patience.tries_max = static_cast<std::uint32_t>(tries);
        return {};
    }

    result<> take_number(std::int64_t& into, std::string_view name, std::string_view value,
                         std::int64_t most) {
        const auto [end, bad] = std::from_chars(value.begin(), value.end(), into);
        if (bad == std::errc{} && end == value.end() && into >= 1 && into <= most) return {};
        return wrong(fmt::format("its {} has to be a number from 1 to {}", name, most));
    }

    std::size_t number_;
    const feature_tables::fields& from_;
};

}  // namespace

result<std::vector<consume_source>> read_sources(const feature_settings& said) {
    std::vector<consume_source> all;
    for (const auto& item : said.get<feature_tables>("sources").items) {
        const auto number = all.size() + 1;
        POSTHORN_LET(one, source_reader(number, item).read());
        if (std::ranges::find(all, one.name, &consume_source::name) != all.end())
            return fail(error_code::invalid_configuration,
                        "consume.sources, entry {}: another one is called '{}'", number, one.name);
        all.push_back(std::move(one));
    }
    if (all.size() > sources_max)
        return fail(error_code::invalid_configuration,
                    "consume.sources has {} entries; {} is the most", all.size(), sources_max);
    return all;
}

std::function<result<std::string>()> password_of(const consume_source& from) {
    if (from.password.empty()) return {};
    return [name = from.name, place = from.password]() -> result<std::string> {
        auto text = referenced_text(place);
        if (!text)
            return fail(error_code::secret_unavailable, "the password of the source '{}': {}", name,
                        text.error().what());
        text->erase(text->find_last_not_of(" \r\n\t") + 1);
        return *std::move(text);
    };
}

}  // namespace posthorn
