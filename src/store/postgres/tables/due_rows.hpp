#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "store/postgres/driver/connection.hpp"
#include "store/rules/due_choice.hpp"

namespace posthorn::postgres {

/// Due rows by the narrow table alone.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class due_rows final : public due_choice {
public:
    due_rows(connection& database, flow_source& flows);

    /// As `choose`, without what living dispatchers other than `epoch` have claimed. The rows stay
    /// locked; those that another transaction has locked are passed over.
    result<chosen_rows> choose_unclaimed(const due_question& asked, std::int64_t epoch);

private:
    [[nodiscard]] std::size_t tenants_at_once() const noexcept override {
        return std::numeric_limits<std::size_t>::max();
    }
    result<> read(std::span<tenant_rows* const> tenants, std::size_t rows_max,
                  const due_question& asked) override;

    statement seqs_;
    statement newest_;
    statement unclaimed_;
    statement newest_unclaimed_;
    std::optional<std::int64_t> claimer_;  // Of the present question.
};

}  // namespace posthorn::postgres
