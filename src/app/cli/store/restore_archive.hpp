#pragma once

#include <string>

#include "app/cli/kit/command.hpp"
#include "app/config/config.hpp"
#include "base/time/clock.hpp"

namespace posthorn::cli {

/// The half of `posthorn restore` that reads an archive of the log.
///
/// Lifetime: as that command's.
class archive_restore_part {
public:
    void declare(CLI::App& options);
    /// Whether the command line asks for it.
    [[nodiscard]] bool is_asked() const { return list_ || latest_ || !at_.empty(); }
    result<> run(const config& settings, const console& terminal, bool json);

private:
    result<> list(const console& terminal, bool json) const;
    result<> restore(const config& settings, const console& terminal, bool json);

    real_clock clock_;
    std::string at_;
    std::string archive_;
    std::string name_;
    std::string to_;
    bool latest_ = false;
    bool list_ = false;
    bool dry_run_ = false;
};

}  // namespace posthorn::cli
