#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/time.hpp>

#include "base/result.hpp"

namespace posthorn::sqlite {

/// One finished backup in a folder. Only what was verified bears such a name.
struct backup_file {
    std::filesystem::path path;
    wall_time taken_at{};  // Everything committed before is in it. To the second, as named.
    std::uintmax_t bytes = 0;

    bool operator==(const backup_file&) const = default;
};

/// `20260214T120000Z`, as part of a file's name.
[[nodiscard]] std::string to_name_part(wall_time time);
/// `orders-20260214T120000Z.db`, for a database `orders.db`.
[[nodiscard]] std::string backup_name(const std::filesystem::path& database, wall_time taken_at);
/// When a backup of this database was taken, by its name; empty if it is not the name of one.
[[nodiscard]] std::optional<wall_time> parse_backup_name(std::string_view name,
                                                         const std::filesystem::path& database);

/// The backups of a database in a folder, oldest first. A folder that is not there has none.
[[nodiscard]] result<std::vector<backup_file>> list_backups(const std::filesystem::path& folder,
                                                            const std::filesystem::path& database);

/// Which of them have been kept long enough: never the newest. Pure; oldest first.
[[nodiscard]] std::vector<backup_file> outdated_backups(std::vector<backup_file> all, wall_time now,
                                                        std::chrono::milliseconds keep);

/// How long until the next one is due. Pure. A newest that lies in the future says that the clock
/// was wrong, then or now: then the interval counts from now.
[[nodiscard]] std::chrono::milliseconds backup_delay(std::optional<wall_time> newest, wall_time now,
                                                     std::chrono::milliseconds every);

/// A file under a temporary name that is ours alone until it gets its own.
///
/// Lifetime: `make`, fill the file through whatever writes files, `keep_as`. What was not kept is
///           removed.
/// Threads:  one.
class new_file {
public:
    /// Empty, with the owner, as far as we may, and the mode of `like`, if there is such a file, but
    /// with no right beyond `mode_max`.
    /// `error_code::store_busy` if another process writes under this name.
    static result<new_file> make(std::filesystem::path temporary, const std::filesystem::path& like,
                                 unsigned mode_max = 0777);
    ~new_file();
    new_file(new_file&& other) noexcept;
    new_file& operator=(new_file&&) = delete;
    new_file(const new_file&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    /// The contents of another file.
    result<> copy_from(const std::filesystem::path& other);
    result<> sync();
    /// Gives it its name, which survives a power cut from then on. Refused with
    /// `error_code::invalid_argument` if there is such a file, unless it is to be replaced.
    enum class if_there : std::uint8_t { refuse, replace };
    result<> keep_as(const std::filesystem::path& name, if_there there);

private:
    new_file(std::filesystem::path path, int descriptor)
        : path_(std::move(path)), descriptor_(descriptor) {}

    std::filesystem::path path_;
    int descriptor_ = -1;
};

/// What is in the directory of a file survives a power cut.
result<> sync_folder_of(const std::filesystem::path& file);

}  // namespace posthorn::sqlite
