#pragma once

#include <string>

#include <posthorn/error.hpp>

#include "base/time/clock.hpp"
#include "centre/centre_handlers.hpp"
#include "centre/centre_rows.hpp"
#include "centre/centre_tables.hpp"
#include "conformance/store/suite.hpp"
#include "inbox/handler_context.hpp"

namespace posthorn::conformance {

/// A store with the tables of a centre, and its handlers on it.
class centre_store : public store_fixture {
protected:
    [[nodiscard]] store_settings settings() const override { return {.above = {centre_tables()}}; }

    /// What the handler answers; what it throws, as text.
    std::string take(const transactional_handler& by, const std::string& service,
                     const std::string& payload) {
        message received = sample();
        received.source = service;
        received.payload = payload;
        std::string answer;
        const auto done = run([&](store_transaction& tx) -> result<> {
            handler_context in(tx, maker_, received);
            try {
                answer = by(in, received);
            } catch (const permanent& refused) {
                return fail(error_code::cancelled, "{}", refused.what());
            }
            return in.intact();
        });
        return done ? answer : std::string(done.error().what());
    }
    std::string notify(const std::string& service, const std::string& payload) {
        return take(make_notification_handler(time_), service, payload);
    }
    std::string tell(const std::string& service, const std::string& payload) {
        return take(make_telemetry_handler(time_), service, payload);
    }

private:
    real_clock time_;
    seeded_random random_{1};
    uuid_generator ids_{[] { return noon; }, random_};
    message_maker maker_{{.source = "hq"}, time_, ids_};
};

}  // namespace posthorn::conformance
