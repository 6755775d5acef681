#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/ip/address.hpp>

namespace posthorn::test {

/// A server of names on 127.0.0.1, over UDP and TCP, that answers as the test says.
///
/// Lifetime: answers from a thread of its own until it is destroyed.
/// Threads:  any; what answers runs on its thread.
class name_server {
public:
    struct reply {
        std::vector<boost::asio::ip::address> addresses{};  // Of either family.
        int code = 0;                                       // 3: there is no such name.
        std::string alias_of{};                             // The addresses are those of this name.
        bool silent = false;
        bool lies_first = false;  // Sends answers to other questions before the right one.
        bool cut_on_udp = false;  // Says that the rest is to be asked for over TCP.
    };
    using teller = std::function<reply(const std::string& name)>;

    explicit name_server(teller tell);
    ~name_server();
    name_server(const name_server&) = delete;
    name_server& operator=(const name_server&) = delete;

    /// Such as `127.0.0.1:5353`.
    [[nodiscard]] std::string address() const;
    /// How often a name was asked for, for either family.
    [[nodiscard]] std::size_t questions(const std::string& name) const;

private:
    struct connection {
        int socket;
        std::string received{};
    };

    void run();
    void answer_datagram();
    bool answer_stream(connection& with);
    std::vector<std::string> answers_to(const std::string& question, bool datagram);

    teller tell_;
    int udp_ = -1;
    int tcp_ = -1;
    int stop_ = -1;
    std::uint16_t port_ = 0;
    mutable std::mutex mutex_;
    std::map<std::string, std::size_t> questions_;
    std::jthread thread_;
};

}  // namespace posthorn::test
