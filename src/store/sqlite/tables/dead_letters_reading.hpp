#pragma once

#include "store/dead_letters.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

/// The messages that were given up, as a reading connection sees them.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class dead_letters_reading final : public dead_letter_reader {
public:
    explicit dead_letters_reading(connection& database);

    result<dead_page> list(const dead_filter& wanted, std::int64_t before_seq,
                           std::size_t limit) override;
    result<dead_groups> groups(std::string_view destination, std::size_t limit) override;
    result<dead_slice> find(const dead_filter& wanted, std::int64_t after_seq,
                            std::size_t limit) override;
    result<std::optional<dead_letter_row>> row(const uuid& id) override;

private:
    /// Rows one after the other, of a status or of a cause.
    struct walk {
        statement of_status;
        statement of_cause;
        result<rows> begin(const dead_filter& wanted, std::int64_t from);
    };

    walk down_;
    walk up_;
    statement highest_;
    statement one_;
    statement by_id_;
    statement groups_;
    statement ungrouped_;
};

}  // namespace posthorn::sqlite
