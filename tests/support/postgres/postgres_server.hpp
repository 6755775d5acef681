#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/temporary_directory.hpp"

struct pg_conn;

namespace posthorn::test {

/// The URL of the tests' private server: that of the one which CTest started, or else of one that
/// this process starts, and stops at its end.
[[nodiscard]] const std::string& postgres_url();
/// Kills the server as a power cut would, and starts it again on the same files.
void crash_postgres();
/// Stops the server, and starts it again on the same files.
void halt_postgres();
void start_postgres_again();

/// Another server before or behind the tests' own.
///
/// Lifetime: runs until it is destroyed.
class postgres_beside {
public:
    /// `what` is `standby`, or `pooler` with its mode.
    explicit postgres_beside(const std::vector<std::string>& what);
    ~postgres_beside();
    postgres_beside(const postgres_beside&) = delete;
    postgres_beside& operator=(const postgres_beside&) = delete;

    [[nodiscard]] std::string url() const;

private:
    temporary_directory place_;
};

/// How much of something a person asks for in the environment; `usual` if nothing is said.
[[nodiscard]] int number_from(const char* variable, int usual);

/// A session of nobody of ours.
///
/// Threads: one at a time.
class postgres_client {
public:
    using row = std::vector<std::optional<std::string>>;

    explicit postgres_client(const std::string& url = postgres_url());

    /// What the database said against it; empty if it did as told.
    std::optional<std::string> run(std::string_view sql);
    /// Throws if the query fails.
    std::vector<row> rows(std::string_view sql);
    [[nodiscard]] pg_conn* handle() const noexcept { return handle_.get(); }

private:
    struct closer {
        void operator()(pg_conn* handle) const noexcept;
    };
    std::unique_ptr<pg_conn, closer> handle_;
};

/// Two schemas that go when the test does: one for the store, one for the business tables.
class postgres_place {
public:
    postgres_place();
    ~postgres_place();
    postgres_place(const postgres_place&) = delete;
    postgres_place& operator=(const postgres_place&) = delete;

    [[nodiscard]] const std::string& schema() const noexcept { return schema_; }
    /// With both schemas in its search path, the business tables' first.
    [[nodiscard]] std::string url() const;

private:
    std::string schema_;
    std::string business_;
};

}  // namespace posthorn::test
