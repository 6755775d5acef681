#include "transport/own_addresses.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <ifaddrs.h>
#include <netinet/in.h>

namespace posthorn {

namespace ip = boost::asio::ip;

result<std::vector<ip_address>> own_addresses() {
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0)
        return fail(error_code::io_failed, "this machine's addresses cannot be read: {}",
                    std::generic_category().message(errno));
    std::vector<ip_address> found;
    for (const auto* each = first; each != nullptr; each = each->ifa_next) {
        if (each->ifa_addr == nullptr) continue;
        if (each->ifa_addr->sa_family == AF_INET) {
            const auto* const four = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
            found.emplace_back(ip::address_v4(ntohl(four->sin_addr.s_addr)));
        } else if (each->ifa_addr->sa_family == AF_INET6) {
            const auto* const six = reinterpret_cast<const sockaddr_in6*>(each->ifa_addr);
            ip::address_v6::bytes_type bytes{};
            std::ranges::copy(six->sin6_addr.s6_addr, bytes.begin());
            found.emplace_back(ip::address_v6(bytes));
        }
    }
    freeifaddrs(first);
    return found;
}

std::optional<std::vector<ip_address>> own_addresses_watch::look(steady_time now) {
    constexpr std::chrono::minutes interval{1};
    if (looked_at_ && now - *looked_at_ < interval) return std::nullopt;
    looked_at_ = now;
    auto found = own_addresses();
    if (!found) return std::nullopt;
    return *std::move(found);
}

}  // namespace posthorn
