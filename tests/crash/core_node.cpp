#include "crash/core_node.hpp"

#include <utility>

#include "base/result.hpp"

namespace posthorn::crash {

core_node::core_node(core_options options, std::function<void(std::string_view line)> sink)
    : log_({.level = log_level::trace, .sink = std::move(sink)}, [this] { return clock_.wall(); }) {
    core_ = value_or_throw(node_core::open(
        std::move(options),
        {{clock_, timer_, random_, log_, network_.executor(), readers_, workers_}, writer_, hub_}));
}

core_node::~core_node() {
    posthorn::start(network_.executor(), core_->stop()).get();
    core_->store().stop();
}

void core_node::start() {
    value_or_throw(posthorn::start(network_.executor(), core_->start()).get());
}

std::int64_t core_node::integer(std::string_view sql) {
    std::int64_t found = 0;
    value_or_throw(core_->store().read([&](store_reader& from) {
        return from.query(sql, {}, [&](const sql_row& row) { found = row.integer(0); });
    }));
    return found;
}

}  // namespace posthorn::crash
