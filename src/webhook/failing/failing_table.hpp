#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "store/store.hpp"
#include "webhook/failing/failing_endpoint.hpp"

namespace posthorn {

/// Counts failures in a row, and forgets them with a success. Gives those that were told of as
/// failing and have recovered.
result<std::vector<failing_endpoint>> note_outcomes(store_transaction& tx,
                                                    const std::vector<webhook_attempt>& all);
result<std::vector<failing_endpoint>> read_failing(store_reader& from, std::int64_t limit);
/// How many of its deliveries wait; not counted past `at_most`.
result<std::int64_t> count_waiting(store_reader& from, const uuid& subscription,
                                   std::int64_t at_most);
/// False if another was quicker, or if it has recovered.
result<bool> tell_failing(store_transaction& tx, const failing_endpoint& one, std::int32_t level);
result<> forget_failing(store_transaction& tx, const uuid& subscription);

}  // namespace posthorn
