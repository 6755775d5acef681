#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "measure/board.hpp"
#include "measure/load.hpp"

namespace posthorn {
class node;
}

namespace posthorn::cli {

/// The two services of a measurement: orders sends a message for each order, billing writes a
/// charge for each message. Everything through the public API.
struct bench_setting {
    std::string transport = "unix";  // unix, http or inprocess
    std::filesystem::path folder;
    std::string secret;  // As in a configuration; shared by both.
};

/// From now on tells the board which charges are on disk, as soon as they are; once a process.
void tell_effects(measure::board& shared, bool counts_syncs);

/// A service that takes messages in, started; says where on the board.
[[nodiscard]] std::unique_ptr<node> start_billing(const bench_setting& with,
                                                  measure::board& shared);
/// The other, started, with billing at that address.
[[nodiscard]] std::unique_ptr<node> start_orders(const bench_setting& with,
                                                 const std::string& address, bool shared_file);
[[nodiscard]] std::uint64_t count_charges(node& billing);

/// Order and message in one transaction of a node in this process.
[[nodiscard]] std::unique_ptr<measure::sender> make_node_sender(const bench_setting& with,
                                                                measure::board& shared);
/// The same in plain SQL, on a file whose node is in another process.
[[nodiscard]] std::unique_ptr<measure::sender> make_sql_sender(const bench_setting& with,
                                                               measure::board& shared,
                                                               measure::board& of_orders);

}  // namespace posthorn::cli
