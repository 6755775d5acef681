#pragma once

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "sidecar_fixture.hpp"
#include "support/postgres/postgres_server.hpp"

namespace posthorn::integration {

/// Nobody reads what they print: a death brings hundreds of repeats, each of which is worth a
/// warning.
inline constexpr auto quiet = "[log]\nlevel = \"error\"\n";

/// What the processes of one service on PostgreSQL say alike.
struct service_on_server {
    std::string id;
    const test::postgres_place* place = nullptr;
    std::string parts = "both";
    std::string rest = {};  // Listeners, secrets, routes and handlers.

    [[nodiscard]] std::string text() const {
        return "[service]\nid = \"" + id + "\"\nparts = \"" + parts + "\"\n[store]\nurl = \"" +
               place->url() + "\"\nschema = \"" + place->schema() + "\"\n" + quiet + rest;
    }
    /// Writes its configuration, and makes its tables.
    void prepare(const std::string& file) const {
        std::ofstream(file) << text();
        const auto made = test::run_process({POSTHORN_PROGRAM, "init", "--config", file});
        EXPECT_EQ(made.end, exit_0) << made.err;
    }
    /// How many of them dispatch.
    [[nodiscard]] std::size_t seats() const {
        return test::postgres_client(place->url())
            .rows("SELECT 1 FROM posthorn_leases WHERE name LIKE 'dispatcher/%'")
            .size();
    }
    /// Of a query that gives one.
    [[nodiscard]] std::int64_t number(const std::string& sql) const {
        return std::stoll(test::postgres_client(place->url()).rows(sql).at(0).at(0).value_or("-1"));
    }
};

inline constexpr auto no_listeners = "[listen]\nhttp = \"\"\nadmin = \"\"\n";

/// One process of a service whose store others share.
class instance {
public:
    /// `places` is how many lines it prints.
    explicit instance(const std::string& file, int places = 0) {
        child_ = std::make_unique<test::process>(
            std::vector<std::string>{POSTHORN_PROGRAM, "serve", "--config", file});
        for (int i = 0; i < places; ++i) lines_.push_back(child_->read_line().value_or(""));
    }

    [[nodiscard]] test::process& child() { return *child_; }
    [[nodiscard]] std::string port(std::size_t place = 0) const {
        return std::to_string(test::port_in(lines_.at(place)));
    }
    void stop() {
        // Started a moment ago, it may not even be our program yet.
        EXPECT_TRUE(test::eventually([&] { return child_->handles(SIGTERM); })) << child_->err();
        child_->send_signal(SIGTERM);
        EXPECT_EQ(child_->wait(), exit_0) << child_->err();
    }

private:
    std::unique_ptr<test::process> child_;
    std::vector<std::string> lines_;
};

}  // namespace posthorn::integration
