#pragma once

#include <chrono>

#include "base/time/clock.hpp"
#include "store/postgres/driver/connection.hpp"

namespace posthorn::postgres {

/// Has the server plan the statements of a session anew every few seconds of its work. A plan is
/// kept until its tables are analysed, and one that was made when a table was small reads the whole
/// of it later: tables here grow by thousands of rows a second (docs/adr/0056).
///
/// Threads: its session's.
class fresh_plans {
public:
    static constexpr std::chrono::seconds kept_for{2};

    /// When a transaction has begun.
    void look(connection& database, steady_time now) {
        if (now - made_at_ < kept_for) return;
        made_at_ = now;
        database.defer("DISCARD PLANS");
    }

private:
    steady_time made_at_{};
};

}  // namespace posthorn::postgres
