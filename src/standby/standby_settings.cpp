#include "standby/standby_settings.hpp"

#include <array>

#include "base/time/clock.hpp"
#include "standby/door/pair_credentials.hpp"

namespace posthorn::standby {
namespace {

using std::chrono::milliseconds;

constexpr std::array keys{
    feature_key{"to", "on a primary: HOST:PORT or unix:/PATH where its standby listens, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"listen",
                "on a standby: ADDRESS:PORT or unix:/PATH where its primary comes, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"key", "the pair's: env:NAME or file:PATH of 32 bytes in base64, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"certificate", "the chain that this one of the pair shows: a file, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"private_key", "the certificate's private key: a file, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"authority", "whom the other's certificate is believed by: a file, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"peer_name", "of whom that must be; none for the service's id",
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

/// Empty if it is `none`.
result<std::optional<link_place>> read_place(const feature_settings& said, std::string_view key) {
    const auto& text = said.get<std::string>(key);
    if (text == "none") return std::optional<link_place>{};
    const auto is_ours = key == "listen";
    auto place = parse_link_place(text);
    if (place && is_ours && place->path.empty() && !parse_host_port(text))
        place = fail(error_code::invalid_argument, "that is not an address");
    if (!place)
        return fail(error_code::invalid_configuration,
                    "standby.{} cannot be \"{}\"; write {} and a port, such as \"{}:7402\", "
                    "unix:/PATH, or none",
                    key, text, is_ours ? "an address of this machine" : "a host",
                    is_ours ? "127.0.0.1" : "standby.example");
    const bool has_tls = said.get<std::string>("certificate") != "none";
    if (!place->stays_here() && !has_tls && !said.get<bool>("plain_text"))
        return fail(
            error_code::invalid_configuration,
            "standby.{} is {}, and what the pair says there can be read on the way: all of "
            "the database. Give both a certificate (standby.certificate, private_key and "
            "authority) or, on a network that is yours alone, set standby.plain_text = true",
            key, text);
    return std::optional(*std::move(place));
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

namespace {

/// An error of ours begins with the section and the key.
feature_problem problem_of(const error& why) {
    const std::string_view what(why.what());
    constexpr std::string_view section = "standby.";
    for (const auto& key : keys)
        if (what.starts_with(section) && what.substr(section.size()).starts_with(key.name) &&
            (what.substr(section.size() + key.name.size()).starts_with(' ') ||
             what.substr(section.size() + key.name.size()).starts_with(':')))
            return {key.name, why};
    return {"key", why};
}

}  // namespace

std::vector<feature_problem> check_standby_settings(const feature_settings& said) {
    const auto read = read_standby_settings(said);
    if (!read) return {problem_of(read.error())};
    if (!read->to && !read->listen) return {};
    const auto known = read_credentials(said, {});
    if (!known) return {problem_of(known.error())};
    const real_clock time;
    if (const auto usable = check_credentials(*known, time); !usable)
        return {problem_of(usable.error())};
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
