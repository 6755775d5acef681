#pragma once

#include <memory>
#include <string>

#include "app/config/config.hpp"
#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/random.hpp"
#include "base/time/clock.hpp"
#include "base/uuid_generator.hpp"
#include "store/store.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's names.
class App;       // NOLINT(readability-identifier-naming)
}

namespace posthorn::cli {

inline constexpr auto config_file_default = "posthorn.toml";
/// The file that was named or, if none was, `posthorn.toml` of the current folder, if it is there.
[[nodiscard]] std::string config_file_or_default(std::string named);

/// Which configuration and which database a command works on.
struct database_choice {
    std::string config_file{};  // `posthorn.toml` of the current folder, if there is one.
    std::string database{};     // That of the configuration.
    std::string schema{};       // Likewise.

    void declare(CLI::App& options);
    /// The configuration, with the database of `--database` in it. `error_code::invalid_argument`
    /// if neither was named and there is none.
    [[nodiscard]] result<config> settings() const;
};

/// A service's database, opened for one command beside others that use it.
///
/// Lifetime: `open`, use, destroy, which stops the store.
/// Threads:  one.
class database_session {
public:
    enum class if_missing : std::uint8_t { refuse, make };

    /// `error_code::not_found`, which says how to make one, if there is no such file.
    static result<std::unique_ptr<database_session>> open(const config& settings,
                                                          if_missing missing = if_missing::refuse);
    ~database_session();
    database_session(const database_session&) = delete;
    database_session& operator=(const database_session&) = delete;

    [[nodiscard]] class store& store() noexcept { return *store_; }
    [[nodiscard]] const class clock& clock() const noexcept { return clock_; }
    [[nodiscard]] uuid_generator& ids() noexcept { return ids_; }
    /// Runs work in a transaction of its own; on disk when it returns.
    result<> commit(unit::work_type work);

private:
    database_session();

    real_clock clock_;
    system_random random_;
    uuid_generator ids_;
    logger log_;
    worker_threads writer_{"posthorn-write"};
    std::unique_ptr<class store> store_;
};

}  // namespace posthorn::cli
