#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/store/suite.hpp"

namespace posthorn::conformance {

/// A store as lanes use it.
class lane_store : public store_fixture {
protected:
    bool pause(std::string destination, std::string reason = {}) {
        return write<bool>([&](store_transaction& tx) {
            return tx.outbox().pause({.destination = destination, .since = noon, .reason = reason});
        });
    }
    bool resume(std::string_view destination) {
        return write<bool>([&](store_transaction& tx) { return tx.outbox().resume(destination); });
    }
    std::vector<paused_destination> paused() {
        return look<std::vector<paused_destination>>(
            [](store_reader& from) { return from.outbox().paused(); });
    }
    expired_slice expired(std::optional<pending_place> after, std::size_t rows_max,
                          wall_time now = noon + std::chrono::hours{1}) {
        return look<expired_slice>([&](store_reader& from) {
            return from.outbox().expired({.destination = "billing",
                                          .now = now,
                                          .after = std::move(after),
                                          .rows_max = rows_max});
        });
    }
    uuid put_expiring(wall_time when, std::string tenant = {}, std::int32_t priority = 0,
                      std::string destination = "billing") {
        auto body = sample();
        body.destination = std::move(destination);
        body.expires_at = when;
        body.tenant = std::move(tenant);
        body.priority = priority;
        put(body);
        return body.id;
    }
};

}  // namespace posthorn::conformance
