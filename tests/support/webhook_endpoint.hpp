#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/raw_http.hpp"

namespace posthorn::test {

/// A subscriber's endpoint that takes everything, and keeps what it was told.
///
/// Threads: any; it answers on one of its own.
class webhook_endpoint {
public:
    webhook_endpoint() = default;
    webhook_endpoint(const webhook_endpoint&) = delete;
    webhook_endpoint& operator=(const webhook_endpoint&) = delete;
    ~webhook_endpoint() {
        ends_ = true;
        raw_http(listener_.port()).send("POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
        thread_.join();
    }

    [[nodiscard]] std::string url() const {
        return "http://127.0.0.1:" + std::to_string(listener_.port()) + "/hook";
    }
    /// Requests, in the order in which they came.
    [[nodiscard]] std::vector<raw_response> requests() {
        const std::scoped_lock lock(mutex_);
        return requests_;
    }
    /// How often it was told of each event.
    [[nodiscard]] std::map<std::string, int> seen() {
        std::map<std::string, int> all;
        for (const auto& each : requests()) ++all[header(each, "webhook-id")];
        return all;
    }
    /// Empty if there is none.
    [[nodiscard]] static std::string header(const raw_response& of, std::string_view name) {
        const auto at = of.head.find("\r\n" + std::string(name) + ": ");
        if (at == std::string::npos) return {};
        const auto begin = at + name.size() + 4;
        return of.head.substr(begin, of.head.find("\r\n", begin) - begin);
    }

private:
    void run() {
        while (!ends_) {
            try {  // That callers go away, or are long in coming, is their right.
                const auto caller = listener_.accept();
                auto request = caller->receive();
                if (!ends_) {
                    const std::scoped_lock lock(mutex_);
                    requests_.push_back(std::move(request));
                }
                caller->send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
            } catch (const std::runtime_error&) {
            }
        }
    }

    raw_listener listener_;
    std::atomic<bool> ends_ = false;
    std::mutex mutex_;
    std::vector<raw_response> requests_;
    std::thread thread_{[this] { run(); }};
};

}  // namespace posthorn::test
