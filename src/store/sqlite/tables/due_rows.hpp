#pragma once

#include <span>

#include "store/rules/due_choice.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

/// Due rows by the index alone.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class due_rows final : public due_choice {
public:
    due_rows(connection& database, flow_source& flows);

private:
    [[nodiscard]] std::size_t tenants_at_once() const noexcept override { return 1; }
    result<> read(std::span<tenant_rows* const> one, std::size_t rows_max,
                  const due_question& asked) override;

    statement seqs_;
    statement newest_;
};

}  // namespace posthorn::sqlite
