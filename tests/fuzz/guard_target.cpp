#include "fuzz/guard_target.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include <arpa/inet.h>

#include "fuzz/promise.hpp"
#include "security/address_guard.hpp"

namespace posthorn {
namespace {

using fuzz::demand;
namespace ip = boost::asio::ip;

// In the library's own words for them, which are not those of the guard.
bool is_plainly_inner(const ip_address& one) {
    if (one.is_loopback() || one.is_multicast() || one.is_unspecified()) return true;
    if (one.is_v4()) {
        const auto first = one.to_v4().to_bytes();
        return first[0] == 10 || (first[0] == 192 && first[1] == 168) ||
               (first[0] == 172 && first[1] / 16 == 1) || (first[0] == 169 && first[1] == 254);
    }
    const auto six = one.to_v6();
    if (six.is_v4_mapped()) return is_plainly_inner(ip::make_address_v4(ip::v4_mapped, six));
    return six.is_link_local() || six.is_site_local() || (six.to_bytes()[0] & 0xfe) == 0xfc;
}

void judge_one(const ip_address& one) {
    const bool passes = judge_address(one, {}).has_value();
    demand(!passes || !is_plainly_inner(one), "what is inner is refused");
    const std::array both{*parse_plain_address("93.184.216.34"), one};
    demand(judge_answer(both, {}).has_value() == passes, "one refused address refuses the answer");
    demand(!judge_address(one, {.own = {one}}), "no machine calls itself");
    if (one.is_v4()) {
        const auto mapped = ip::make_address_v6(ip::v4_mapped, one.to_v4());
        demand(judge_address(mapped, {}).has_value() == passes,
               "a mapped address is judged as the one inside");
    }
}

void judge_text(std::string_view text, bool plain_http) {
    const auto taken = judge_url(text, {.plain_http = plain_http});
    if (!taken)
        return demand(!taken.error().for_operator().empty() &&
                          taken.error().for_subscriber() == "address not allowed",
                      "a refusal has a reason, which strangers do not get");
    demand(taken->tls || plain_http, "plain HTTP is taken by setting only");
    const auto read = parse_http_url(text);
    demand(read && read->port == taken->port && read->path == taken->path &&
               read->query == taken->query && read->tls == taken->tls,
           "what was judged is what is called");
    in_addr loosely{};
    const auto numeric = parse_plain_address(taken->host);
    demand(inet_aton(taken->host.c_str(), &loosely) == 0 || (numeric && numeric->is_v4()),
           "what the system takes for an address was judged as one");
    if (numeric) {
        demand(judge_address(*numeric, {}).has_value(), "an address in a URL is judged");
        demand(numeric->to_string() == taken->host, "an address has one form");
    } else {
        demand(taken->host.contains('.') && !taken->host.ends_with('.'), "a name has a dot inside");
        demand(taken->host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") ==
                   std::string::npos,
               "a name is only a name");
    }
    const auto again =
        judge_url(origin(*taken) + taken->path + (taken->query.empty() ? "" : "?" + taken->query),
                  {.plain_http = plain_http});
    demand(text.size() > guarded_url_bytes_max - 16 || (again && *again == *taken),
           "what was taken is taken again as it is written");
}

// Bit by bit, since that is what a prefix says.
bool shares_bits(const ip_address& one, const ip_address& other, unsigned bits) {
    const auto bit = [](const ip_address& of, unsigned at) {
        const auto byte =
            of.is_v4() ? of.to_v4().to_bytes()[at / 8] : of.to_v6().to_bytes()[at / 8];
        return byte >> (7 - at % 8) & 1;
    };
    for (unsigned at = 0; at < bits; ++at)
        if (bit(one, at) != bit(other, at)) return false;
    return true;
}

void compare(std::string_view network, std::string_view address) {
    const auto one = parse_plain_address(address);
    if (one) judge_one(*one);
    const auto read = ip_network::parse(network);
    if (!read)
        return demand(read.error().code() == error_code::invalid_argument,
                      "a network that is none has its own error");
    const auto written = read->text();
    demand(ip_network::parse(written) == *read, "a network comes back as it was written");
    const auto slash = written.find('/');
    const auto first = *parse_plain_address(written.substr(0, slash));
    unsigned bits = 0;
    std::from_chars(written.data() + slash + 1, written.data() + written.size(), bits);
    demand(read->contains(first), "a network holds its first address");
    if (!one || one->is_v4() != first.is_v4() || *one != *parse_plain_address(one->to_string()))
        return;
    const bool wrapped = one->is_v6() && (one->to_string().starts_with("::ffff:") ||
                                          one->to_string().starts_with("64:ff9b::"));
    if (!wrapped)
        demand(read->contains(*one) == shares_bits(first, *one, bits),
               "a network holds what shares its prefix");
    if (read->contains(*one))
        demand(judge_address(*one, {.allow = {*read}, .own = {*one}}).has_value(),
               "what is allowed passes");
}

}  // namespace

void fuzz_guard(const std::uint8_t* data, std::size_t size) {
    auto rest = fuzz::text_of(data, size);
    const auto url = fuzz::take_until(rest, '\n');
    const auto network = fuzz::take_until(rest, '\n');
    judge_text(url, false);
    judge_text(url, true);
    judge_text("https://" + std::string(url) + "/", false);
    compare(network, rest);
    if (rest.size() >= 16) {
        ip::address_v6::bytes_type bytes{};
        std::copy_n(rest.begin(), bytes.size(), bytes.begin());
        judge_one(ip::address_v6(bytes));
        judge_one(ip::address_v4({bytes[0], bytes[1], bytes[2], bytes[3]}));
    }
}

}  // namespace posthorn
