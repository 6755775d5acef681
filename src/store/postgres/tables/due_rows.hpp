#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/postgres/tables/flows.hpp"
#include "store/rules/due_choice.hpp"

namespace posthorn::postgres {

/// Due rows by the narrow table alone.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class due_rows final : public due_choice {
public:
    explicit due_rows(connection& database);

    /// As `choose`, without what living dispatchers other than `epoch` have claimed. The rows stay
    /// locked; those that another transaction has locked are passed over.
    result<chosen_rows> choose_unclaimed(const due_question& asked, std::int64_t epoch);

private:
    flow_source& flows() override { return walk_; }
    result<> read_all(std::vector<tenant_rows>& tenants, const due_question& asked) override;
    /// Up to `rows_max` of each of these tenants, in one question.
    result<> read(const std::vector<tenant_rows*>& tenants, std::size_t rows_max,
                  const due_question& asked);

    flow_walk walk_;
    statement seqs_;
    statement unclaimed_;
    std::optional<std::int64_t> claimer_;  // Of the present question.
};

}  // namespace posthorn::postgres
