#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "chaos/road.hpp"
#include "chaos/storm.hpp"
#include "support/raw_http.hpp"
#include "unit/transport/http/test_certificate.hpp"

namespace posthorn::chaos {
namespace {

// By the rules of HTTP as far as our clients use them; none of the code under test.
std::size_t http_request_size(std::string_view bytes) {
    const auto head = bytes.find("\r\n\r\n");
    if (head == std::string_view::npos) return 0;
    constexpr std::string_view name = "content-length:";
    const auto same = [](char a, char b) { return (a | 0x20) == b; };
    const auto found = std::ranges::search(bytes.substr(0, head), name, same);
    std::size_t body = 0;
    if (!found.empty()) {
        const char* from = found.end();
        while (*from == ' ') ++from;
        std::from_chars(from, bytes.data() + head, body);
    }
    const auto size = head + 4 + body;
    return size <= bytes.size() ? size : 0;
}

class road_over_http final : public road {
public:
    road_over_http(const road_parts& parts, bool tls)
        : parts_(parts),
          tls_(tls),
          storm_({.seed = parts.seed, .size_of = tls ? request_size{} : http_request_size},
                 parts.counts, parts.answers) {
        if (tls_) certificate_ = test::make_certificate(parts.folder, parts.to);
    }

    void reach(node_options& receiver) override {
        receiver.listen.http = "127.0.0.1:0";
        if (!tls_) return;
        receiver.tls.certificate = certificate_.certificate;
        receiver.tls.key = certificate_.key;
    }
    void lay(node_options& sender) override {
        sender.routes[parts_.to] =
            fmt::format("{}://127.0.0.1:{}", tls_ ? "https" : "http", storm_.address().port);
        if (tls_) sender.tls.authority = certificate_.certificate;
    }
    void open(const node& receiver) override {
        for (const auto& address : receiver.addresses())
            if (address.starts_with(tls_ ? "https:" : "http:")) {
                const auto port = address.substr(address.rfind(':') + 1);
                storm_.aim({.port = static_cast<std::uint16_t>(std::stoi(port))});
                return;
            }
    }
    void calm() override { storm_.calm(); }

private:
    road_parts parts_;
    bool tls_;
    test::certificate_files certificate_;
    storm storm_;
};

}  // namespace

std::unique_ptr<road> http_road(const road_parts& parts) {
    return std::make_unique<road_over_http>(parts, false);
}

std::unique_ptr<road> https_road(const road_parts& parts) {
    return std::make_unique<road_over_http>(parts, true);
}

}  // namespace posthorn::chaos
