#include "security/ring_file.hpp"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "base/text/base64.hpp"

namespace posthorn {
namespace {

constexpr std::string_view blanks = " \t\r";

// Takes the next word off the text; empty at its end.
std::string_view next_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    const auto word = text.substr(0, text.find_first_of(blanks));
    text.remove_prefix(word.size());
    return word;
}

std::unexpected<error> wrong(std::string_view what) {
    return fail(error_code::invalid_configuration, "{}", what);
}

result<wall_time> parse_time(std::string_view text) {
    const auto time = parse_iso8601(text);
    if (!time) return wrong("no time behind from= or until=; write such as 2026-02-14T12:00:00Z");
    return *time;
}

result<> apply_word(signing_key& key, std::string_view word) {
    if (word == "revoked") {
        key.revoked = true;
        return {};
    }
    const bool is_from = word.starts_with("from=");
    if (!is_from && !word.starts_with("until="))
        return wrong("only from=TIME, until=TIME and revoked may follow a key");
    auto& place = is_from ? key.signs_from : key.verifies_until;
    if (place) return wrong("from= or until= is given twice; keep one");
    POSTHORN_LET(time, parse_time(word.substr(word.find('=') + 1)));
    place = time;
    return {};
}

bool is_past(const signing_key& key, wall_time now) {
    return key.verifies_until && *key.verifies_until <= now;
}

}  // namespace

std::string to_base64_text(const secret& value) {
    return "base64:" + encode_base64(value.reveal());
}

result<ring_file::line> ring_file::parse_line(std::string_view text) {
    const auto hash = text.find('#');
    std::string_view words = text.substr(0, hash);
    const auto first = next_word(words);
    if (first.empty()) return line{.comment = std::string(text)};
    auto value = secret::parse(first);
    if (!value)
        return wrong("no key; write base64: and at least 16 bytes, as 'posthorn keys new' prints");
    line made{.key = make_key(*std::move(value))};
    for (auto word = next_word(words); !word.empty(); word = next_word(words))
        POSTHORN_TRY(apply_word(*made.key, word));
    if (hash != std::string_view::npos) made.comment = text.substr(hash);
    return made;
}

result<> ring_file::add(line made) {
    if (made.key) {
        const auto same = [&](const line& each) {
            return each.key && each.key->id == made.key->id;
        };
        if (std::ranges::any_of(lines_, same))
            return wrong("the same key as on an earlier line; delete one of them");
        if (keys().size() == keys_max) return wrong("too many keys; delete old ones");
    }
    lines_.push_back(std::move(made));
    return {};
}

result<ring_file> ring_file::parse(std::string_view text, std::string_view name) {
    ring_file made;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        auto parsed = parse_line(text.substr(0, end));
        const auto added = parsed ? made.add(*std::move(parsed))
                                  : result<>(std::unexpected(std::move(parsed).error()));
        if (!added)
            return fail(error_code::invalid_configuration, "{}:{}: {}", name, number,
                        added.error().what());
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return made;
}

std::string ring_file::to_text() const {
    std::string text;
    for (const auto& each : lines_) {
        if (each.key) {
            text += to_base64_text(each.key->value);
            if (each.key->signs_from) text += " from=" + to_iso8601(*each.key->signs_from);
            if (each.key->verifies_until) text += " until=" + to_iso8601(*each.key->verifies_until);
            if (each.key->revoked) text += " revoked";
            if (!each.comment.empty()) text += "  ";
        }
        text += each.comment + '\n';
    }
    return text;
}

std::vector<signing_key> ring_file::keys() const {
    std::vector<signing_key> found;
    for (const auto& each : lines_)
        if (each.key) found.push_back(*each.key);
    return found;
}

result<> ring_file::rotate(secret fresh, const rotation& when) {
    const key_ring before = ring();
    const auto* signer = before.signer(when.now);
    std::erase_if(lines_,
                  [&](const line& each) { return each.key && is_past(*each.key, when.now); });
    if (keys().size() == keys_max)
        return fail(error_code::invalid_argument,
                    "the file holds {} keys already; delete revoked ones", keys_max);

    line made{.key = make_key(std::move(fresh))};
    made.comment = "# " + made.key->id;  // What a person needs to revoke it.
    made.key->signs_from = signer ? when.now + when.after : when.now;
    const auto until = *made.key->signs_from + when.overlap;
    for (auto& each : lines_) {
        if (!each.key) continue;
        // The present signer must last until then; the rest must not last longer.
        auto& date = each.key->verifies_until;
        if ((signer && each.key->id == signer->id) || !date || *date > until) date = until;
    }
    const auto first = std::ranges::find_if(lines_, [](const line& each) { return !!each.key; });
    lines_.insert(first, std::move(made));
    return {};
}

result<> ring_file::revoke(std::string_view id) {
    std::vector<std::string> known;
    for (auto& each : lines_) {
        if (!each.key) continue;
        if (each.key->id == id) {
            each.key->revoked = true;
            return {};
        }
        known.push_back(each.key->id);
    }
    return fail(error_code::not_found, "no key has the id '{}'; the file holds {}", id,
                known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
}

}  // namespace posthorn
