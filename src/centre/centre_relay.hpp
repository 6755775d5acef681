#pragma once

#include <chrono>
#include <string>

#include "base/run/environment.hpp"
#include "centre/centre_rows.hpp"
#include "feature/peer_calls.hpp"
#include "feature/site_relay.hpp"

namespace posthorn {

/// What a site said of its parked work, as the admin listener answers it: `error_code::
/// malformed_request` if that cannot be read. Pure.
[[nodiscard]] result<std::string> read_parked_answer(std::string_view payload,
                                                     const std::string& site);
/// Whether a site says that it did what it was asked to with this very message; empty if it did,
/// else why not. Pure.
[[nodiscard]] result<std::string> read_change_answer(std::string_view payload, const uuid& id);

/// Asks sites by the routes of this node, and the mirror about those that do not answer.
class centre_relay final : public site_relay {
public:
    struct deps {
        store& where;
        const environment& env;
        const peer_calls& peers;
        std::chrono::milliseconds timeout;
    };

    explicit centre_relay(deps with) : with_(with) {}

    task<http_response> parked(std::string site, parked_page page) override;
    task<http_response> act(std::string site, uuid id, parked_action what) override;

private:
    task<result<known_site>> find(std::string name);
    task<delivery> ask(std::string service, std::string endpoint, std::string payload);
    task<http_response> mirrored(known_site of, parked_page page, std::string why);

    deps with_;
};

}  // namespace posthorn
