#include "security/address_guard.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include "base/text/comma_list.hpp"

namespace posthorn {

namespace ip = boost::asio::ip;

namespace {

constexpr std::size_t name_bytes_max = 253;
constexpr std::size_t label_bytes_max = 63;

struct v4_range {
    std::uint32_t first;
    unsigned bits;
    std::string_view what;
};

constexpr std::uint32_t v4(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    return a << 24 | b << 16 | c << 8 | d;
}

// IANA's list of IPv4 addresses for special purposes, without those that are public.
constexpr std::array v4_refused{
    v4_range{v4(0, 0, 0, 0), 8, "this network"},
    v4_range{v4(10, 0, 0, 0), 8, "a private network"},
    v4_range{v4(100, 64, 0, 0), 10, "a provider's inner network"},
    v4_range{v4(127, 0, 0, 0), 8, "this machine"},
    v4_range{v4(168, 63, 129, 16), 32, "a cloud's service for its machines"},
    v4_range{v4(169, 254, 0, 0), 16, "a link, and the metadata of clouds"},
    v4_range{v4(172, 16, 0, 0), 12, "a private network"},
    v4_range{v4(192, 0, 0, 0), 24, "protocol assignments"},
    v4_range{v4(192, 0, 2, 0), 24, "documentation"},
    v4_range{v4(192, 88, 99, 0), 24, "6to4 relays"},
    v4_range{v4(192, 168, 0, 0), 16, "a private network"},
    v4_range{v4(198, 18, 0, 0), 15, "measurements"},
    v4_range{v4(198, 51, 100, 0), 24, "documentation"},
    v4_range{v4(203, 0, 113, 0), 24, "documentation"},
    v4_range{v4(224, 0, 0, 0), 3, "multicast, and what is reserved"},
};

struct v6_range {
    std::array<std::uint16_t, 3> first;  // The leading groups.
    unsigned bits;
    std::string_view what;
};

// Of 2000::/3, which is all that is public.
constexpr std::array v6_refused{
    v6_range{{0x2001, 0, 0}, 23, "protocol assignments, Teredo among them"},
    v6_range{{0x2001, 0xdb8, 0}, 32, "documentation"},
    v6_range{{0x2002, 0, 0}, 16, "6to4"},
    v6_range{{0x3fff, 0, 0}, 20, "documentation"},
};

// Ports of services that would take a request for commands of their own: mail, shells, chat,
// printers, stores; most are those that browsers refuse.
constexpr std::array<std::uint16_t, 86> ports_refused{
    1,    7,    9,    11,   13,   15,   17,   19,   20,   21,    22,   23,   25,   37,   42,
    43,   53,   69,   77,   79,   87,   95,   101,  102,  103,   104,  109,  110,  111,  113,
    115,  117,  119,  123,  135,  137,  139,  143,  161,  179,   389,  427,  465,  512,  513,
    514,  515,  526,  530,  531,  532,  540,  548,  554,  556,   563,  587,  601,  636,  989,
    990,  993,  995,  1719, 1720, 1723, 2049, 3306, 3659, 4045,  5060, 5061, 5432, 6000, 6379,
    6566, 6665, 6666, 6667, 6668, 6669, 6697, 9100, 9418, 10080, 11211};
static_assert(std::ranges::is_sorted(ports_refused));

constexpr std::array<std::string_view, 3> inner_names{"local", "internal", "localhost"};

template <class... Args>
std::unexpected<address_refusal> refuse(fmt::format_string<Args...> text, Args&&... args) {
    return std::unexpected(address_refusal(fmt::format(text, std::forward<Args>(args)...)));
}

std::uint32_t v4_mask(unsigned bits) { return bits == 0 ? 0 : ~std::uint32_t{0} << (32 - bits); }

bool starts_with(const ip::address_v6::bytes_type& one, const ip::address_v6::bytes_type& first,
                 unsigned bits) {
    const auto whole = bits / 8;
    if (!std::equal(first.begin(), first.begin() + whole, one.begin())) return false;
    if (bits % 8 == 0) return true;
    const auto mask = static_cast<unsigned>(0xff << (8 - bits % 8) & 0xff);
    return (one[whole] & mask) == (first[whole] & mask);
}

ip::address_v6::bytes_type bytes_of(const v6_range& range) {
    ip::address_v6::bytes_type bytes{};
    for (std::size_t i = 0; i < range.first.size(); ++i) {
        bytes[2 * i] = static_cast<unsigned char>(range.first[i] >> 8);
        bytes[2 * i + 1] = static_cast<unsigned char>(range.first[i] & 0xff);
    }
    return bytes;
}

// A mapped address (::ffff:0:0/96) or one of NAT64 (64:ff9b::/96) leads to the IPv4 one inside.
ip_address unwrapped(const ip_address& one) {
    if (one.is_v4()) return one;
    constexpr ip::address_v6::bytes_type mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    constexpr ip::address_v6::bytes_type nat64{0, 0x64, 0xff, 0x9b};
    const auto bytes = one.to_v6().to_bytes();
    if (!starts_with(bytes, mapped, 96) && !starts_with(bytes, nat64, 96)) return one;
    return ip::address_v4({bytes[12], bytes[13], bytes[14], bytes[15]});
}

// Two are the same whatever link they are said to be on.
bool is_same_address(const ip_address& one, const ip_address& other) {
    if (one.is_v4() != other.is_v4()) return false;
    if (one.is_v4()) return one == other;
    return one.to_v6().to_bytes() == other.to_v6().to_bytes();
}

std::optional<std::string_view> v4_purpose(ip::address_v4 one) {
    for (const auto& each : v4_refused)
        if ((one.to_uint() & v4_mask(each.bits)) == each.first) return each.what;
    return std::nullopt;
}

std::optional<std::string_view> v6_purpose(const ip::address_v6& one) {
    const auto bytes = one.to_bytes();
    if ((bytes[0] & 0xe0) != 0x20) return "not public";
    for (const auto& each : v6_refused)
        if (starts_with(bytes, bytes_of(each), each.bits)) return each.what;
    return std::nullopt;
}

std::optional<ip::address_v4> parse_v4(std::string_view text) {
    ip::address_v4::bytes_type bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto dot = text.find('.');
        const auto part = text.substr(0, dot);
        if ((dot == text.npos) != (i == 3) || part.empty() || part.size() > 3 ||
            (part.size() > 1 && part.front() == '0'))
            return std::nullopt;
        const auto [stop, failure] = std::from_chars(part.begin(), part.end(), bytes[i]);
        if (failure != std::errc{} || stop != part.end()) return std::nullopt;
        text.remove_prefix(std::min(part.size() + 1, text.size()));
    }
    return ip::address_v4(bytes);
}

std::optional<ip::address_v6> parse_v6(std::string_view text) {
    if (text.find_first_not_of("0123456789abcdefABCDEF:.") != text.npos) return std::nullopt;
    boost::system::error_code failure;
    auto read = ip::make_address_v6(std::string(text), failure);
    if (failure) return std::nullopt;
    return read;
}

// What any reader may take for an IPv4 address: `127.1`, `0x7f000001`, `017700000001`.
bool ends_in_number(std::string_view host) {
    const auto last = host.substr(host.rfind('.') + 1);  // All of it where there is no dot.
    const auto digits = last.starts_with("0x") ? last.substr(2) : last;
    const auto* const allowed = last.starts_with("0x") ? "0123456789abcdef" : "0123456789";
    return !last.empty() && digits.find_first_not_of(allowed) == digits.npos;
}

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

guarded<> judge_name(std::string_view host) {
    if (host.size() > name_bytes_max)
        return refuse("the host has {} characters; at most {}", host.size(), name_bytes_max);
    std::size_t labels = 0;
    std::string_view last;
    for (auto rest = host;; ++labels) {
        const auto dot = rest.find('.');
        last = rest.substr(0, dot);
        if (last.empty() || last.size() > label_bytes_max || last.front() == '-' ||
            last.back() == '-' || !std::ranges::all_of(last, is_name_character))
            return refuse("'{}' is not a host name", host);
        if (dot == rest.npos) break;
        rest.remove_prefix(dot + 1);
    }
    if (labels == 0) return refuse("'{}' is a name of the local network: it has no dot", host);
    if (std::ranges::find(inner_names, last) != inner_names.end())
        return refuse("'{}' is a name of the local network: it ends in .{}", host, last);
    return {};
}

guarded<> judge_host(std::string& host, const guard_rules& rules) {
    if (const auto numeric = parse_plain_address(host)) {
        host = numeric->to_string();
        return judge_address(*numeric, rules);
    }
    if (ends_in_number(host))
        return refuse("'{}' is an address in another form than four plain decimals", host);
    return judge_name(host);
}

guarded<> judge_text(std::string_view text, const guard_rules& rules) {
    if (text.size() > guarded_url_bytes_max)
        return refuse("the URL has {} bytes; at most {}", text.size(), guarded_url_bytes_max);
    for (const char c : text)
        if (c <= ' ' || c >= '\x7f')
            return refuse(
                "the URL holds the byte {:#04x}; write names of other scripts as punycode and the "
                "rest percent-encoded",
                static_cast<unsigned char>(c));
    const bool plain = text.starts_with("http://");
    if (plain && !rules.plain_http) return refuse("the URL is not https");
    if (!plain && !text.starts_with("https://")) return refuse("the URL is not one of https");
    if (text.find('#') != text.npos) return refuse("the URL has a fragment");
    const auto begin = text.find("//") + 2;
    const auto end = text.find_first_of("/?", begin);
    const auto authority = text.substr(begin, end == text.npos ? end : end - begin);
    if (authority.find('@') != authority.npos) return refuse("the URL holds a user or a password");
    if (authority.find('%') != authority.npos) return refuse("the URL's host is percent-encoded");
    return {};
}

}  // namespace

std::optional<ip_address> parse_plain_address(std::string_view host) {
    if (const auto four = parse_v4(host)) return *four;
    if (const auto six = parse_v6(host)) return *six;
    return std::nullopt;
}

guarded<http_url> judge_url(std::string_view text, const guard_rules& rules) {
    if (const auto fine = judge_text(text, rules); !fine) return std::unexpected(fine.error());
    auto url = parse_http_url(text);
    if (!url) return refuse("it is not a URL");
    for (char& c : url->host)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (url->host.ends_with('.')) url->host.pop_back();
    if (const auto fine = judge_host(url->host, rules); !fine) return std::unexpected(fine.error());
    if (std::ranges::binary_search(ports_refused, url->port))
        return refuse("port {} is that of another protocol", url->port);
    return *std::move(url);
}

guarded<> judge_address(const ip_address& one, const guard_rules& rules) {
    const auto real = unwrapped(one);
    if (std::ranges::any_of(rules.allow, [&](const auto& each) { return each.contains(real); }))
        return {};
    const auto purpose = real.is_v4() ? v4_purpose(real.to_v4()) : v6_purpose(real.to_v6());
    if (purpose) return refuse("{} is refused: {}", one.to_string(), *purpose);
    for (const auto& each : rules.own)
        if (is_same_address(unwrapped(each), real))
            return refuse("{} is refused: this machine", one.to_string());
    return {};
}

guarded<> judge_answer(std::span<const ip_address> found, const guard_rules& rules) {
    if (found.empty()) return refuse("the name has no address");
    for (const auto& each : found)
        if (auto fine = judge_address(each, rules); !fine) return fine;
    return {};
}

result<ip_network> ip_network::parse(std::string_view text) {
    const auto slash = text.find('/');
    const auto first = parse_plain_address(text.substr(0, slash));
    const auto digits = slash == text.npos ? "" : text.substr(slash + 1);
    const unsigned most = first && first->is_v4() ? 32 : 128;
    unsigned bits = most;
    const auto [stop, failure] = std::from_chars(digits.begin(), digits.end(), bits);
    const bool counted = slash == text.npos || (failure == std::errc{} && stop == digits.end());
    if (!first || !counted || bits > most)
        return fail(error_code::invalid_argument,
                    "'{}' is not a network; write one such as 10.0.0.0/8 or fd00::/8", text);
    if (unwrapped(*first) != *first)
        return fail(error_code::invalid_argument,
                    "'{}' stands for IPv4 addresses; write the network as IPv4", text);
    const ip_address lowest =
        first->is_v4()
            ? ip_address(ip::network_v4(first->to_v4(), static_cast<unsigned short>(bits))
                             .canonical()
                             .address())
            : ip_address(ip::network_v6(first->to_v6(), static_cast<unsigned short>(bits))
                             .canonical()
                             .address());
    if (lowest != *first)
        return fail(error_code::invalid_argument,
                    "'{}' has bits behind its prefix; write {}/{}, or the address alone", text,
                    lowest.to_string(), bits);
    return ip_network(*first, bits);
}

result<std::vector<ip_network>> parse_networks(std::string_view listed) {
    std::vector<ip_network> all;
    for (const auto& each : split_at_commas(listed)) {
        POSTHORN_LET(network, ip_network::parse(each));
        all.push_back(std::move(network));
    }
    return all;
}

bool ip_network::contains(const ip_address& one) const {
    const auto real = unwrapped(one);
    if (real.is_v4() != first_.is_v4()) return false;
    if (real.is_v4()) return (real.to_v4().to_uint() & v4_mask(bits_)) == first_.to_v4().to_uint();
    return starts_with(real.to_v6().to_bytes(), first_.to_v6().to_bytes(), bits_);
}

std::string ip_network::text() const { return fmt::format("{}/{}", first_.to_string(), bits_); }

}  // namespace posthorn
