#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/postgres/driver/connection.hpp"

namespace posthorn::postgres {

/// The SQL of handlers. What comes again is prepared, which saves the server from reading and
/// planning it each time; what comes once, such as a text with values in it, is not.
///
/// A statement that failed because a table it gives rows of has changed is not run as prepared
/// again. A repeat of what failed therefore succeeds.
///
/// Lifetime: not past its connection.
/// Threads:  its connection's.
class foreign_statements {
public:
    /// Different texts that are remembered; those beyond are run as they come.
    static constexpr std::size_t known_max = 200;

    explicit foreign_statements(connection& database) : database_(database) {}

    /// `error_code::statement_forbidden` for what a unit may not run.
    result<rows> run(std::string_view sql, values with);
    /// Puts it in line if it gives no rows, which is known once it was prepared and run; whether it
    /// fails shows when the line is sent. False if it has to be run, and has its values yet.
    bool defer(std::string_view sql, values& with);

private:
    struct known {
        std::string sql;  // As the server takes it.
        std::vector<unsigned> types;
        statement prepared{};
        bool came_again = false;
        bool gives_no_rows = false;
        bool is_unfit = false;
    };
    struct hash : std::hash<std::string_view> {
        using is_transparent = void;
    };

    static bool is_for(const known& one, const values& with);
    result<known*> recall(std::string_view sql, const values& with);
    void make_room();

    connection& database_;
    // Its elements never move, as statements must not.
    std::unordered_map<std::string, known, hash, std::equal_to<>> known_;
};

}  // namespace posthorn::postgres
