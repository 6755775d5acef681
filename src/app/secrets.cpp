#include "app/secrets.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <sys/stat.h>

namespace posthorn {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
    constexpr std::string_view white = " \t\r";
    std::vector<std::string_view> words;
    while (true) {
        const auto begin = line.find_first_not_of(white);
        if (begin == std::string_view::npos) return words;
        const auto end = line.find_first_of(white, begin);
        words.push_back(line.substr(begin, end - begin));
        if (end == std::string_view::npos) return words;
        line.remove_prefix(end);
    }
}

/// False if the word is none of `from=`, `until=` and `revoked`.
bool read_word(std::string_view word, signing_key& key) {
    constexpr std::string_view from = "from=";
    constexpr std::string_view until = "until=";
    if (word == "revoked") {
        key.revoked = true;
        return true;
    }
    auto& into = word.starts_with(from) ? key.signs_from : key.verifies_until;
    if (word.starts_with(from))
        word.remove_prefix(from.size());
    else if (word.starts_with(until))
        word.remove_prefix(until.size());
    else
        return false;
    into = parse_iso8601(word);
    return into.has_value();
}

result<std::vector<signing_key>> from_environment(const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    if (!value)
        return fail(error_code::secret_unavailable,
                    "the environment variable {} is not set; set it to base64:… where the node is "
                    "started",
                    name);
    auto parsed = secret::parse(value);
    if (!parsed)
        return fail(error_code::secret_unavailable, "the environment variable {}: {}", name,
                    parsed.error().what());
    return std::vector{make_key(*std::move(parsed))};
}

result<std::vector<signing_key>> from_file(const std::string& path) {
    struct stat about{};
    std::ifstream stream(path, std::ios::binary);
    if (!stream || ::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode))
        return fail(error_code::secret_unavailable,
                    "{} cannot be read; check the path and who may read it", path);
    if ((about.st_mode & 077U) != 0)
        return fail(error_code::secret_unavailable,
                    "{} can be read or written by others than its owner; run chmod 600 {}", path,
                    path);
    std::ostringstream text;
    text << stream.rdbuf();
    auto keys = parse_secret_file(std::move(text).str());
    if (!keys) return fail(error_code::secret_unavailable, "{}:{}", path, keys.error().what());
    return keys;
}

result<std::vector<signing_key>> fetch(const config& settings, const secret_setting& one) {
    switch (one.where) {
        case secret_setting::kind::written: return std::vector{make_key(one.value)};
        case secret_setting::kind::environment: return from_environment(one.name);
        case secret_setting::kind::file: break;
    }
    return from_file(settings.path_of(std::filesystem::path(one.name)));
}

}  // namespace

result<std::vector<signing_key>> parse_secret_file(std::string_view text) {
    std::vector<signing_key> keys;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = text.find('\n');
        const auto words = words_of(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (words.empty() || words.front().starts_with('#')) continue;
        auto parsed = secret::parse(words.front());
        if (!parsed)
            return fail(error_code::secret_unavailable, "{}: {}", number, parsed.error().what());
        auto key = make_key(*std::move(parsed));
        for (std::size_t i = 1; i < words.size(); ++i)
            if (!read_word(words[i], key))
                return fail(error_code::secret_unavailable,
                            "{}: word {} of the line is not understood; after the secret write "
                            "from=TIME, until=TIME or revoked, with times such as "
                            "2026-03-01T00:00:00Z",
                            number, i + 1);
        keys.push_back(std::move(key));
    }
    if (keys.empty())
        return fail(error_code::secret_unavailable,
                    "1: there is no secret in the file; write base64:…, or run posthorn keys new");
    return keys;
}

result<peer_keys::rings> load_secrets(const config& settings) {
    peer_keys::rings rings;
    for (const auto& [peer, secrets] : settings.secrets) {
        std::vector<signing_key> all;
        for (const auto& one : secrets) {
            auto fetched = fetch(settings, one);
            if (!fetched)
                return fail(error_code::secret_unavailable, "{}: secrets.{}: {}", one.origin, peer,
                            fetched.error().what());
            for (auto& key : *fetched) {
                if (one.from) key.signs_from = one.from;
                if (one.until) key.verifies_until = one.until;
                key.revoked = key.revoked || one.revoked;
                all.push_back(std::move(key));
            }
        }
        rings.emplace(peer, std::make_shared<const key_ring>(std::move(all)));
    }
    return rings;
}

}  // namespace posthorn
