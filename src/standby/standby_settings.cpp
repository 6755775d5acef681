#include "standby/standby_settings.hpp"

#include <array>
#include <charconv>
#include <filesystem>

#include "base/text/referenced_text.hpp"
#include "security/ring_file.hpp"
#include "transport/http/types.hpp"

namespace posthorn::standby {
namespace {

using std::chrono::milliseconds;

constexpr std::array keys{
    feature_key{"to", "on a primary: HOST:PORT where its standby listens, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"listen", "on a standby: ADDRESS:PORT where its primary comes, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"key", "the pair's: env:NAME or file:PATH of 32 bytes in base64, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"mode", "a commit is answered once it is on both disks, sync, or on ours, async",
                [] { return feature_value(std::string("sync")); }},
    feature_key{"when_lost", "without the standby, in mode sync: wait, or go on alone",
                [] { return feature_value(std::string("wait")); }},
    feature_key{"patience", "how long the standby may take to answer",
                [] { return feature_value(milliseconds(std::chrono::seconds{5})); }},
    feature_key{"lag_alarm", "health is yellow when the standby is behind for so long",
                [] { return feature_value(milliseconds(std::chrono::seconds{10})); }},
    feature_key{"wal_keep", "bytes of the log that are kept for a standby that is away",
                [] { return feature_value(std::int64_t{1} << 30U); }},
    feature_key{"plain_text", "whether the pair may talk over a network, which others can read",
                [] { return feature_value(false); }},
};

/// As `parse_host_port`, but of any name.
std::optional<host_port> place_of(std::string_view text) {
    if (auto parsed = parse_host_port(text)) return *std::move(parsed);
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    const auto host = text.substr(0, colon);
    for (const char each : host)
        if (each <= ' ' || each > '~' || each == ':' || each == '/') return std::nullopt;
    host_port place{.host = std::string(host)};
    const auto* const end = text.data() + text.size();
    const auto [stopped, wrong] = std::from_chars(text.data() + colon + 1, end, place.port);
    if (wrong != std::errc{} || stopped != end || place.port == 0) return std::nullopt;
    return place;
}

bool stays_here(const host_port& place) {
    return place.host == "localhost" || is_loopback(place.host);
}

/// Empty if it is `none`.
result<std::optional<host_port>> read_place(const feature_settings& said, std::string_view key) {
    const auto& text = said.get<std::string>(key);
    if (text == "none") return std::optional<host_port>{};
    const auto is_ours = key == "listen";
    std::optional<host_port> place;
    if (!is_ours)
        place = place_of(text);
    else if (auto parsed = parse_host_port(text))
        place = *std::move(parsed);
    if (!place)
        return fail(error_code::invalid_configuration,
                    "standby.{} cannot be \"{}\"; write {} and a port, such as \"{}:7402\", or "
                    "none",
                    key, text, is_ours ? "an address of this machine" : "a host",
                    is_ours ? "127.0.0.1" : "standby.example");
    if (!stays_here(*place) && !said.get<bool>("plain_text"))
        return fail(error_code::invalid_configuration,
                    "standby.{} is {}, and what the pair says there can be read on the way: all of "
                    "the database. Lead it through a tunnel that ends on 127.0.0.1 or, on a "
                    "network that is yours alone, set standby.plain_text = true",
                    key, text);
    return place;
}

/// One of two words.
struct choice {
    std::string_view key;
    std::string_view first;
    std::string_view second;
};

result<bool> is_first(const feature_settings& said, const choice& of) {
    const auto& text = said.get<std::string>(of.key);
    if (text == of.first || text == of.second) return text == of.first;
    return fail(error_code::invalid_configuration,
                "standby.{} cannot be \"{}\"; write \"{}\" or \"{}\"", of.key, text, of.first,
                of.second);
}

result<milliseconds> read_time(const feature_settings& said, std::string_view key) {
    const auto time = said.get<milliseconds>(key);
    if (time >= milliseconds{10} && time <= std::chrono::hours{1}) return time;
    return fail(error_code::invalid_configuration, "standby.{} cannot be {} ms; write 10ms to 1h",
                key, time.count());
}

/// A key that others can read is theirs too.
result<> require_private(std::string_view reference) {
    namespace fs = std::filesystem;
    if (!reference.starts_with("file:")) return {};
    const fs::path path(reference.substr(5));
    std::error_code unusable;
    const auto may = fs::status(path, unusable).permissions();
    if (unusable || (may & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none)
        return {};
    return fail(error_code::secret_unavailable,
                "standby.key: others may read {}; run chmod 600 on it, or make a new one",
                path.string());
}

}  // namespace

std::span<const feature_key> standby_keys() { return keys; }

result<standby_settings> read_standby_settings(const feature_settings& said) {
    POSTHORN_LET(to, read_place(said, "to"));
    POSTHORN_LET(listen, read_place(said, "listen"));
    POSTHORN_LET(is_sync, is_first(said, {"mode", "sync", "async"}));
    POSTHORN_LET(waits, is_first(said, {"when_lost", "wait", "alone"}));
    POSTHORN_LET(patience, read_time(said, "patience"));
    POSTHORN_LET(lag_alarm, read_time(said, "lag_alarm"));
    const auto wal_keep = said.get<std::int64_t>("wal_keep");
    constexpr auto wal_keep_min = std::int64_t{1} << 20U;
    if (wal_keep < wal_keep_min)
        return fail(error_code::invalid_configuration,
                    "standby.wal_keep cannot be {}; write {} bytes or more", wal_keep,
                    wal_keep_min);
    return standby_settings{.to = std::move(to),
                            .listen = std::move(listen),
                            .mode = is_sync ? ship_mode::sync : ship_mode::async,
                            .lost = waits ? when_lost::wait : when_lost::alone,
                            .patience = patience,
                            .lag_alarm = lag_alarm,
                            .wal_keep = static_cast<std::uint64_t>(wal_keep)};
}

result<secret> read_pair_key(const feature_settings& said) {
    const auto& reference = said.get<std::string>("key");
    if (reference == "none")
        return fail(error_code::invalid_configuration,
                    "standby.key is missing; make one with 'posthorn keys new', and give primary "
                    "and standby the same: file:PATH or env:NAME");
    POSTHORN_TRY(require_private(reference));
    const auto text = referenced_text(reference);
    if (!text) return fail(text.error().code(), "standby.key: {}", text.error().what());
    const auto ring = ring_file::parse(*text, "standby.key");
    if (!ring) return std::unexpected(ring.error());
    for (const auto& each : ring->keys())
        if (!each.revoked) return each.value;
    return fail(error_code::secret_unavailable,
                "standby.key holds no key that is in force; write base64:… there, or run posthorn "
                "keys new");
}

std::vector<feature_problem> check_standby_settings(const feature_settings& said) {
    const auto read = read_standby_settings(said);
    if (!read) {
        // It begins with the section and the key.
        const std::string_view what(read.error().what());
        constexpr std::string_view section = "standby.";
        const auto name = what.substr(section.size(), what.find(' ') - section.size());
        for (const auto& key : keys)
            if (key.name == name) return {{key.name, read.error()}};
        return {{"to", read.error()}};
    }
    if (!read->to && !read->listen) return {};
    if (const auto key = read_pair_key(said); !key) return {{"key", key.error()}};
    return {};
}

std::optional<feature_problem> refuse_plan(const feature_settings& said, const store_plan& plan) {
    const std::string_view key = said.get<std::string>("to") != "none" ? "to" : "listen";
    if (said.get<std::string>(key) == "none") return std::nullopt;
    const auto refused = [&](std::string_view why) {
        return feature_problem{
            key, error(error_code::invalid_configuration, fmt::format("standby.{}: {}", key, why))};
    };
    if (plan.on_server)
        return refused(
            "this kind of standby is for SQLite files; a PostgreSQL server has its own: see "
            "docs/operating/scale-out.md, and leave the section [standby] out");
    if (plan.in_memory)
        return refused("a store in memory has no log to follow; name a file in store.url");
    if (plan.has_own_inbox)
        return refused(
            "a standby follows one file, and what handlers write goes to another; leave "
            "store.inbox_url out");
    if (!plan.syncs_commits)
        return refused(
            "what is answered here need not even be on this disk; set store.synchronous = "
            "\"full\"");
    return std::nullopt;
}

}  // namespace posthorn::standby
