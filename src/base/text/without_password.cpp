#include "base/text/without_password.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace posthorn {
namespace {

constexpr std::string_view hidden = "(hidden)";
constexpr auto npos = std::string_view::npos;

// Of PostgreSQL's client. The value of any other may be a password whose name is misspelled.
constexpr std::array<std::string_view, 38> harmless_options{"host",
                                                            "hostaddr",
                                                            "port",
                                                            "dbname",
                                                            "user",
                                                            "passfile",
                                                            "require_auth",
                                                            "channel_binding",
                                                            "connect_timeout",
                                                            "client_encoding",
                                                            "options",
                                                            "application_name",
                                                            "fallback_application_name",
                                                            "keepalives",
                                                            "keepalives_idle",
                                                            "keepalives_interval",
                                                            "keepalives_count",
                                                            "tcp_user_timeout",
                                                            "replication",
                                                            "gssencmode",
                                                            "sslmode",
                                                            "sslcompression",
                                                            "sslcert",
                                                            "sslkey",
                                                            "sslcertmode",
                                                            "sslrootcert",
                                                            "sslcrl",
                                                            "sslcrldir",
                                                            "sslsni",
                                                            "sslnegotiation",
                                                            "requirepeer",
                                                            "ssl_min_protocol_version",
                                                            "ssl_max_protocol_version",
                                                            "krbsrvname",
                                                            "gsslib",
                                                            "service",
                                                            "target_session_attrs",
                                                            "load_balance_hosts"};

/// Part of an address that is not to be shown.
struct stretch {
    std::size_t from = 0;
    std::size_t size = 0;
    std::string_view has_meaning{};  // What cannot stand in it as it is, beside %.
};

/// Where a URL's user, password and host begin; `npos` without these. A slash may have been forgotten.
std::size_t begin_of_authority(std::string_view address) {
    if (const auto scheme = address.find("://"); scheme != npos) return scheme + 3;
    if (!address.starts_with("postgres")) return npos;
    const auto colon = address.find(':');
    return colon == npos ? npos : address.find_first_not_of('/', colon + 1);
}

/// A password in front of the host. It may hold what has to be escaped and is not, so it goes to the
/// last @ there is; the host and more are then taken for a part of it.
void add_login(std::string_view address, std::size_t from, std::vector<stretch>& into) {
    const auto colon = address.find(':', from);
    if (colon == npos) return;
    const auto query = address.find('?', from);
    auto at = address.substr(0, query).rfind('@');
    if (at == npos || at < from) {
        const auto port = address.substr(
            colon + 1, std::min(address.find_first_of("/?", colon), address.size()) - colon - 1);
        if (port.find_first_not_of("0123456789") == npos) return;  // What follows is an option's.
        at = address.rfind('@');
    }
    if (at != npos && colon < at) into.push_back({colon + 1, at - colon - 1, "@/"});
}

/// Values of options, which are `end` apart.
void add_options(std::string_view address, std::size_t from, char end, std::vector<stretch>& into) {
    while (from < address.size()) {
        const auto next = std::min(address.find(end, from), address.size());
        const auto option = address.substr(from, next - from);
        const auto equals = option.find('=');
        if (equals != npos &&
            std::ranges::find(harmless_options, option.substr(0, equals)) == harmless_options.end())
            into.push_back({from + equals + 1, option.size() - equals - 1});
        from = next + 1;
    }
}

std::vector<stretch> secrets_in(std::string_view address) {
    std::vector<stretch> all;
    const auto from = begin_of_authority(address);
    if (from == npos) {
        if (address.contains("password=")) add_options(address, 0, ' ', all);
        return all;
    }
    add_login(address, from, all);
    const auto behind = all.empty() ? from : all.front().from + all.front().size;
    if (const auto query = address.find('?', behind); query != npos)
        add_options(address, query + 1, '&', all);
    return all;
}

bool is_escaped(std::string_view text, std::string_view has_meaning) {
    constexpr std::string_view digits = "0123456789abcdefABCDEF";
    if (text.find_first_of(has_meaning) != npos) return false;
    for (auto at = text.find('%'); at != npos; at = text.find('%', at + 1)) {
        const auto code = text.substr(at + 1, 2);
        if (code.size() < 2 || code.find_first_not_of(digits) != npos || code == "00") return false;
    }
    return true;
}

}  // namespace

std::string without_password(std::string_view address) {
    std::string shown(address);
    const auto all = secrets_in(address);
    for (auto one = all.rbegin(); one != all.rend(); ++one)
        shown.replace(one->from, one->size, hidden);
    return shown;
}

bool has_unescaped_password(std::string_view address) {
    if (begin_of_authority(address) == npos) return false;
    return !std::ranges::all_of(secrets_in(address), [address](const stretch& one) {
        return is_escaped(address.substr(one.from, one.size), one.has_meaning);
    });
}

}  // namespace posthorn
