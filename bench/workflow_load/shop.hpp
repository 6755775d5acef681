#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include <posthorn/node.hpp>
#include <posthorn/workflow.hpp>

#include "common/scratch.hpp"
#include "limit/database.hpp"
#include "measure/pace.hpp"
#include "workflow_load/settings.hpp"

namespace posthorn::bench {

inline void rest(std::chrono::nanoseconds span) {
    measure::sleep_until(measure::now_ns() + span.count());
}

/// Of the process, without what it maps from files.
inline std::int64_t memory_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("RssAnon:")) return std::strtoll(line.c_str() + 8, nullptr, 10) * 1024;
    return 0;
}

/// A node with workflows, and its tables as others see them.
class shop {
public:
    /// Which workflows it has, and what more is to be said of it.
    using equipment = void (*)(node&);

    shop(const std::string& in, equipment equip, node_options more = {.service = "shop"})
        : place_(in), equip_(equip), options_(std::move(more)) {
        options_.store.database = file();
        open();
    }

    void open() {
        node_.reset();
        node_.emplace(options_);
        equip_(*node_);
    }
    node* operator->() { return &*node_; }
    [[nodiscard]] const std::filesystem::path& folder() const { return place_.path(); }
    [[nodiscard]] std::string file() const { return (place_.path() / "shop.db").string(); }
    [[nodiscard]] std::int64_t number(const char* sql) {
        if (!rows_) rows_.emplace(file(), "");
        return statement(rows_->raw(), sql).get();
    }
    void await(const char* sql, std::int64_t wanted) {
        while (number(sql) != wanted) rest(std::chrono::milliseconds(2));
    }

    /// Starts so many, in transactions of a thousand.
    template <class Start>
    void start_many(std::int64_t count, Start start) {
        constexpr std::int64_t slice = 1000;
        for (std::int64_t begin = 0; begin < count; begin += slice)
            node_->transact([&](transaction& tx) {
                for (auto number = begin; number < std::min(begin + slice, count); ++number)
                    start(tx, number);
            });
    }

private:
    scratch place_;
    equipment equip_;
    node_options options_;
    std::optional<node> node_;
    std::optional<database> rows_;
};

inline constexpr auto count_ended =
    "SELECT count(*) FROM workflow_instances WHERE status = 'completed'";

/// Workflows of three calls to a service in another process.
void run_calls(const workflow_settings& with);
/// Long histories, repeated from the file.
void run_replay(const workflow_settings& with);
/// One long history: how fast steps are at its beginning and at its end.
void run_long(const workflow_settings& with);

}  // namespace posthorn::bench
