#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include <sys/types.h>

#include "common/arguments.hpp"
#include "measure/board.hpp"
#include "measure/load.hpp"
#include "measure/report.hpp"

namespace posthorn::bench {

/// A sender that knows what its processes have used.
class measured_sender : public measure::sender {
public:
    measured_sender(std::filesystem::path folder, const measure::board& shared,
                    std::vector<pid_t> processes)
        : folder_(std::move(folder)), shared_(shared), processes_(std::move(processes)) {}

    [[nodiscard]] measure::usage used() override;

protected:
    /// Syncs of other processes than the two; -1 where nobody could count them.
    [[nodiscard]] virtual std::int64_t more_syncs() { return 0; }

private:
    std::filesystem::path folder_;
    const measure::board& shared_;
    std::vector<pid_t> processes_;
};

using receive_function = std::function<void(const std::filesystem::path&, measure::board&)>;
using sender_function = std::function<std::unique_ptr<measure::sender>(
    const std::filesystem::path&, measure::board&, pid_t receiver)>;

/// Runs `receive` in a process of its own and the load on what `make` gives in this one, checks
/// that every message took effect once, and prints what was seen. No thread runs when it is called.
///
/// `receive` says that it is ready, and returns when the sender is gone or the board says so.
void measure_two_processes(const std::filesystem::path& folder, const arguments& given,
                           const measure::subject& what, const receive_function& receive,
                           const sender_function& make);

}  // namespace posthorn::bench
