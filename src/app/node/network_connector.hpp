#pragma once

#include <map>
#include <memory>
#include <string>

#include <posthorn/transport.hpp>

#include "app/config/config.hpp"
#include "app/config/core_options.hpp"
#include "base/async/task_group.hpp"
#include "base/run/environment.hpp"
#include "inbox/configured/http_handler.hpp"
#include "transport/http/http_client.hpp"
#include "transport/http/tls.hpp"
#include "transport/wire/wire_identity.hpp"

namespace posthorn {

/// The real network: every transport of the list, and those that the application brings.
///
/// Lifetime: `stop` has returned before it is destroyed; what it is given outlives it.
/// Threads:  the network executor.
/// Cancel:   `cut_off` lets everything on its way fail; `stop` waits for the connections too.
class network_connector final : public connector {
public:
    using transports = std::map<std::string, transport_function, std::less<>>;
    struct deps {
        environment env;
        const peer_keys& keys;
        const transports& by_scheme;  // The application's own.
    };

    /// `error_code::certificate_unusable` if the authorities cannot be read.
    static result<std::unique_ptr<network_connector>> open(const config& settings, deps on);

    result<std::unique_ptr<transport>> connect(const std::string& destination,
                                               const core_route& route) override;
    [[nodiscard]] bool signs(const core_route& route) const override;
    [[nodiscard]] bool has_secret(std::string_view peer) const override;

    /// Reads the authorities and our own certificate again, for new connections. If that fails, the
    /// old ones stay. (gRPC reads them whenever it has to connect anew.)
    result<> reload_certificates();
    /// For handlers that are web services.
    [[nodiscard]] web_caller caller();
    /// For whatever else asks web servers that a person configured.
    [[nodiscard]] web_client web();
    /// As whom its ways speak.
    [[nodiscard]] const wire_identity& identity() const noexcept { return identity_; }
    void cut_off();
    task<> stop();

private:
    class own_transport;

    network_connector(const config& settings, deps on, tls_trust trusted);
    result<std::unique_ptr<transport>> connect_to_one(const std::string& destination,
                                                      const core_route& route);
    [[nodiscard]] const transport_function* own(std::string_view url) const;
    task<result<http_response>> call_web(web_call call);

    deps on_;
    wire_identity identity_;
    bool mutual_;  // Peers must show certificates of their own names.
    tls_trust tls_;
    task_group connections_;
    http_client client_;
};

}  // namespace posthorn
