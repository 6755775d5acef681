#pragma once

#include <span>

#include "store/rules/due_choice.hpp"
#include "store/sqlite/tables/flow_walk.hpp"

namespace posthorn::sqlite {

/// Due rows by the index alone.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class due_rows final : public due_choice {
public:
    explicit due_rows(connection& database);

private:
    flow_source& flows() override { return walk_; }
    [[nodiscard]] std::size_t tenants_at_once() const noexcept override { return 1; }
    result<> read(std::span<tenant_rows* const> one, std::size_t rows_max,
                  const due_question& asked) override;

    flow_walk walk_;
    statement seqs_;
    statement newest_;
};

}  // namespace posthorn::sqlite
