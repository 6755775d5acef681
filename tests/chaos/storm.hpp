#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/time/clock.hpp"
#include "chaos/dice.hpp"
#include "chaos/stamps.hpp"
#include "chaos/tally.hpp"
#include "support/fault_proxy.hpp"

namespace posthorn::chaos {

/// The size of the request that the bytes begin with; zero as long as it is not all there.
using request_size = std::function<std::size_t(std::string_view bytes)>;

struct storm_options {
    std::uint64_t seed = 1;
    test::socket_address at{};
    /// Empty where requests cannot be told from each other, as inside TLS: then all that a
    /// connection sent is what is sent again.
    request_size size_of{};
};

/// A proxy between a client and a server in which everything goes wrong, each connection by what is
/// drawn from the seed and its number, more or less often from one moment to the next.
///
/// Threads and sockets are real, so that the same seed draws the same faults but does not meet the
/// same bytes with them.
///
/// Lifetime: harms from the constructor to `calm`; passes bytes on until it is destroyed.
/// Threads:  any.
class storm final : public test::fault_proxy::judge {
public:
    storm(storm_options options, tally& counts, stamps& answers);
    ~storm() override;
    storm(const storm&) = delete;
    storm& operator=(const storm&) = delete;

    [[nodiscard]] const test::socket_address& address() const noexcept { return proxy_.address(); }
    void aim(test::socket_address target) { proxy_.aim(std::move(target)); }
    /// Ends all harm, and sends what was still to be sent again. Twice is safe.
    void calm();

    test::fault_proxy::verdict come(std::size_t connection, test::fault_proxy::direction way,
                                    std::string& bytes) override;
    void gone(std::size_t connection) override;

private:
    using direction = test::fault_proxy::direction;
    using verdict = test::fault_proxy::verdict;

    struct stream {
        std::int64_t until_fault = 0;  // Bytes.
        std::int64_t to_drop = 0;
        std::string seen{};  // Of requests, what is not complete; of answers, what may go on.
    };
    struct connection {
        dice chance;
        stream up{};
        stream down{};
        bool silent = false;  // Nothing goes on any more, either way.
    };

    connection& known(std::size_t number);
    /// Whether the piece holds a request that goes another way than this one.
    bool record(connection& on, std::string_view bytes);
    void send_later(connection& on, std::string bytes);
    verdict harm_request(connection& on, std::string& bytes, std::size_t at);
    verdict harm_answer(connection& on, std::string& bytes, std::size_t at);
    verdict harm_either(connection& on, stream& one, std::string& bytes, std::size_t at);
    [[nodiscard]] std::int64_t draw_distance(dice& chance, direction way) const;

    void weather();
    void change(dice& chance);
    void send_due(std::unique_lock<std::mutex>& lock, bool all);

    storm_options options_;
    tally& counts_;
    stamps& answers_;
    real_clock clock_;
    std::atomic<bool> calm_ = false;
    std::atomic<std::int64_t> roughness_ = 16'000;   // Bytes between faults, about.
    std::map<std::size_t, connection> connections_;  // The proxy's thread alone.
    std::mutex mutex_;
    std::condition_variable changed_;
    std::multimap<steady_time, std::string> later_;
    int refusals_left_ = 3;
    test::fault_proxy proxy_;
    std::jthread thread_;
};

}  // namespace posthorn::chaos
