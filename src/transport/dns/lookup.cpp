#include "transport/dns/lookup.hpp"

#include <algorithm>
#include <string_view>

#include <ares.h>
#include <fmt/ranges.h>
#include <netinet/in.h>
#include <sys/time.h>

#include "base/assert.hpp"
#include "base/async/cancellation.hpp"
#include "transport/dns/resolver.hpp"

namespace posthorn {

namespace asio = boost::asio;

namespace {

constexpr int tries_max = 3;

// c-ares wants to be told once that it is used.
bool is_library_ready() {
    static const int status = ares_library_init(ARES_LIB_INIT_ALL);
    return status == ARES_SUCCESS;
}

ip_address address_of(const sockaddr& found) {
    if (found.sa_family == AF_INET) {
        const auto& four = reinterpret_cast<const sockaddr_in&>(found);
        return asio::ip::address_v4(ntohl(four.sin_addr.s_addr));
    }
    const auto& six = reinterpret_cast<const sockaddr_in6&>(found);
    asio::ip::address_v6::bytes_type bytes{};
    std::ranges::copy(six.sin6_addr.s6_addr, bytes.begin());
    return asio::ip::address_v6(bytes);
}

std::vector<ip_address> addresses_in(const ares_addrinfo& found) {
    std::vector<ip_address> all;
    for (const auto* each = found.nodes; each != nullptr; each = each->ai_next)
        if (each->ai_family == AF_INET || each->ai_family == AF_INET6)
            all.push_back(address_of(*each->ai_addr));
    // The two families' answers come in any order. More machines reach IPv4 than IPv6.
    std::ranges::sort(all);
    const auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
    return all;
}

error trouble(const std::string& name, int status) {
    const auto text = [&] {
        switch (status) {
            case ARES_ENOTFOUND: return fmt::format("there is no name '{}'", name);
            case ARES_ENODATA: return fmt::format("the name '{}' has no address", name);
            case ARES_ETIMEOUT:
                return fmt::format("no name server answers what '{}' is; check the network", name);
            default:
                return fmt::format("the name '{}' was not found: {}", name, ares_strerror(status));
        }
    };
    return {error_code::unreachable, text()};
}

}  // namespace

result<std::shared_ptr<lookup>> lookup::make(asio::any_io_executor where,
                                             const resolver_options& options) {
    std::shared_ptr<lookup> made(new lookup(std::move(where)));
    char lookups[] = "fb";  // The file of hosts, then the name servers.
    ares_options chosen{};
    // The system's search domains would make another name of it. Aliases of hosts are files that
    // an environment variable names.
    chosen.flags = ARES_FLAG_NOALIASES | (options.searches ? 0 : ARES_FLAG_NOSEARCH);
    chosen.timeout = static_cast<int>(options.try_limit.count());
    chosen.tries = tries_max;
    chosen.ndots = 1;
    chosen.lookups = lookups;
    chosen.sock_state_cb = [](void* self, ares_socket_t socket, int readable, int writable) {
        static_cast<lookup*>(self)->watch(socket, readable != 0, writable != 0);
    };
    chosen.sock_state_cb_data = made.get();
    constexpr int always = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS |
                           ARES_OPT_SOCK_STATE_CB;
    const int given = always | (options.searches ? 0 : ARES_OPT_NDOTS | ARES_OPT_DOMAINS);
    auto status = is_library_ready() ? ares_init_options(&made->channel_, &chosen, given)
                                     : static_cast<int>(ARES_ENOTINITIALIZED);
    if (status != ARES_SUCCESS) made->channel_ = nullptr;
    const auto servers = fmt::format("{}", fmt::join(options.servers, ","));
    if (status == ARES_SUCCESS && !servers.empty())
        status = ares_set_servers_ports_csv(made->channel_, servers.c_str());
    if (status != ARES_SUCCESS)
        return fail(error_code::unreachable, "names cannot be looked for: {}; {}",
                    ares_strerror(status),
                    servers.empty() ? "check /etc/resolv.conf" : "check the name servers given");
    return made;
}

lookup::~lookup() { close(); }

void lookup::close() {
    if (std::exchange(closed_, true) || channel_ == nullptr) return;
    ares_destroy(std::exchange(channel_, nullptr));  // Lets go of each socket through `watch`.
    POSTHORN_ASSERT(sockets_.empty());
}

task<result<std::vector<ip_address>>> lookup::run(std::string name, timer& time) {
    begin(name);
    while (!outcome_) {
        const bool rung = co_await ended_.wait_for(time, until_next_try());
        if (co_await is_cancelled()) co_return cancelled();
        if (!rung && !outcome_) ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    }
    co_return *std::move(outcome_);
}

void lookup::begin(const std::string& name) {
    name_ = name;
    ares_addrinfo_hints hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_flags = ARES_AI_NOSORT;  // It would open sockets to find an order.
    ares_getaddrinfo(
        channel_, name.c_str(), nullptr, &hints,
        [](void* self, int status, int, ares_addrinfo* found) {
            static_cast<lookup*>(self)->finish(status, found);
        },
        this);
}

void lookup::finish(int status, ares_addrinfo* found) {
    if (!closed_) {
        auto all = found != nullptr && status == ARES_SUCCESS ? addresses_in(*found)
                                                              : std::vector<ip_address>{};
        if (!all.empty())
            outcome_ = std::move(all);
        else
            outcome_ =
                std::unexpected(trouble(name_, status == ARES_SUCCESS ? ARES_ENODATA : status));
        ended_.ring();
    }
    if (found != nullptr) ares_freeaddrinfo(found);
}

void lookup::watch(int socket, bool readable, bool writable) {
    auto at = sockets_.find(socket);
    if (!readable && !writable) {
        if (at == sockets_.end()) return;
        at->second.socket.release();  // c-ares closes it.
        sockets_.erase(at);
        return;
    }
    if (at == sockets_.end()) {
        asio::posix::stream_descriptor descriptor(where_);
        boost::system::error_code failure;
        descriptor.assign(socket, failure);
        if (failure) return;  // What is asked through it has no answer in time.
        at = sockets_.emplace(socket, watched{std::move(descriptor), ++sockets_made_}).first;
    }
    at->second.wants_read = readable;
    at->second.wants_write = writable;
    arm(socket);
}

void lookup::arm(int socket) {
    using descriptor = asio::posix::stream_descriptor;
    const auto at = sockets_.find(socket);
    if (at == sockets_.end()) return;
    auto& one = at->second;
    const auto wait = [&](bool readable, bool wanted, bool& waiting) {
        if (!wanted || std::exchange(waiting, true)) return;
        one.socket.async_wait(readable ? descriptor::wait_read : descriptor::wait_write,
                              [self = shared_from_this(), socket, number = one.number,
                               readable](const boost::system::error_code& failure) {
                                  if (!failure) self->on_ready(socket, number, readable);
                              });
    };
    wait(true, one.wants_read, one.reading);
    wait(false, one.wants_write, one.writing);
}

void lookup::on_ready(int socket, unsigned number, bool readable) {
    const auto at = sockets_.find(socket);
    if (closed_ || at == sockets_.end() || at->second.number != number) return;
    (readable ? at->second.reading : at->second.writing) = false;
    ares_process_fd(channel_, readable ? socket : ARES_SOCKET_BAD,
                    readable ? ARES_SOCKET_BAD : socket);
    arm(socket);
}

std::chrono::milliseconds lookup::until_next_try() const {
    constexpr std::chrono::milliseconds longest = std::chrono::seconds(1);
    timeval most{};
    most.tv_sec = 1;
    timeval left{};
    const auto* const next = ares_timeout(channel_, &most, &left);
    if (next == nullptr) return longest;
    // Rounded up, so that it is over when c-ares looks.
    return std::chrono::seconds(next->tv_sec) + std::chrono::milliseconds(next->tv_usec / 1000 + 1);
}

}  // namespace posthorn
