#pragma once

#include <memory>

#include "store/log_shipper.hpp"
#include "store/sqlite/driver/connection.hpp"
#include "store/sqlite/driver/log_file.hpp"

namespace posthorn::sqlite {

/// The files of an open database for who ships them.
///
/// They are opened as SQLite opens them: to close any other descriptor of the database would drop
/// the locks that this process has on it.
///
/// Lifetime: not past the store's other connections. The log is there when it is made.
class shipped_files final : public log_source {
public:
    static result<std::unique_ptr<shipped_files>> open(const open_options& options);

    result<std::size_t> read_log(std::span<std::byte> into, std::uint64_t at) override;
    result<std::size_t> read_file(std::span<std::byte> into, std::uint64_t at) override;
    result<std::uint64_t> file_size() override;

private:
    explicit shipped_files(connection database) : database_(std::move(database)) {}

    connection database_;
    sqlite3_file* file_ = nullptr;
    std::unique_ptr<log_file> log_;
};

}  // namespace posthorn::sqlite
