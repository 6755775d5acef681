#pragma once

#include <vector>

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
    result<> read_all(std::vector<tenant_rows>& tenants, const due_question& asked) override;
    result<> read(tenant_rows& into, std::size_t rows_max, const due_question& asked);

    flow_walk walk_;
    statement seqs_;
};

}  // namespace posthorn::sqlite
