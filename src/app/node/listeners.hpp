#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admin/gate.hpp"
#include "admin/live.hpp"
#include "admin/node_view.hpp"
#include "app/config/config.hpp"
#include "app/node/node_core.hpp"
#include "app/node/own_report.hpp"
#include "audit/audit.hpp"
#include "transport/http/router.hpp"
#include "transport/http/tls.hpp"
#include "transport/listener.hpp"
#include "transport/wire/peer_keys.hpp"
#include "transport/wire/transport_kind.hpp"
#include "transport/wire/wire_server.hpp"

namespace posthorn {

/// Where a node is reached: by peers over every transport that is asked for, and by operators.
///
/// Lifetime: `open` binds; `start` once the node has started; `stop` before the node stops its
///           stores. What it is given outlives it.
/// Threads:  `open` on any, the rest on the network executor.
/// Cancel:   as the servers': `stop` lets requests in flight finish for as long as it is told.
class listeners {
public:
    struct deps {
        node_core& core;
        const node_seams& seams;
        const peer_keys& keys;
        const refused_calls& refused;
        /// What is weak about how the data is kept; nothing is looked for if empty. Blocks.
        own_findings findings{};
    };

    /// `error_code::address_unavailable` or `certificate_unusable`.
    static result<std::unique_ptr<listeners>> open(const config& settings, deps with);

    void start();
    task<> stop(std::chrono::milliseconds patience);
    void cut_off();

    /// Reads the certificate again; the old one stays if that fails.
    result<> reload_certificate();
    void replace_admin_keys(std::vector<admin_key> keys, admin_proxy proxy);

    /// `http://127.0.0.1:7400` and so on.
    [[nodiscard]] std::vector<std::string> urls() const;
    /// The one of them that is for operators; empty if there is none.
    [[nodiscard]] std::string admin_url() const;

private:
    listeners(const config& settings, deps with);
    result<> bind();
    result<> bind(const transport_kind& kind, listen_place at);
    result<> bind_admin(const host_port& address);
    void warn_if_exposed() const;
    void fill_routes();
    void publish_contracts();
    bool free_files();

    const config settings_;
    deps with_;
    std::unique_ptr<tls_server> tls_;
    std::unique_ptr<wire_server> wire_;
    std::unique_ptr<node_view> view_;
    std::unique_ptr<admin_sessions> sessions_;
    std::unique_ptr<admin_access> access_;
    std::unique_ptr<audit> audit_;
    std::unique_ptr<admin_gate> gate_;
    std::unique_ptr<live_feed> live_;
    router public_routes_;
    router admin_routes_;
    std::vector<std::unique_ptr<listener>> all_;
    const listener* admin_ = nullptr;  // One of them.
};

}  // namespace posthorn
