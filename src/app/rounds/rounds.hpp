#pragma once

#include <cstddef>
#include <memory>

#include "app/config/config.hpp"
#include "app/node/node_runtime.hpp"

namespace posthorn {

/// A node without listeners that takes messages up when it is asked alone, so many at a time.
[[nodiscard]] result<std::unique_ptr<node_runtime>> open_for_rounds(config settings,
                                                                    std::size_t batch);

/// One round of each of its databases: how many messages it took up. On the network executor.
task<result<std::size_t>> take_round(node_core& of);

/// Whether it has the outboxes, which one node has at a time on a file. On the network executor.
[[nodiscard]] bool is_at_work(const node_core& of);

/// `error_code::store_busy`, if it has not.
[[nodiscard]] error not_at_work(const config& settings);

}  // namespace posthorn
