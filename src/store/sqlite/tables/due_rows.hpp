#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "store/outbox_table.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/tables/flow_walk.hpp"

namespace posthorn::sqlite {

/// Finds out which due rows of a destination come next, in the index alone.
///
/// Tenants share a page evenly; of a tenant, the highest priority comes first. Where there are more
/// flows, or more tenants, than one look takes in, the next look goes on with those after them.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class due_rows {
public:
    struct choice {
        std::vector<std::int64_t> seqs;
        bool more = false;
    };

    explicit due_rows(connection& database);

    result<choice> choose(const due_question& asked);

private:
    /// What a tenant has due, as far as it was looked at.
    struct tenant_rows {
        std::vector<flow> flows;  // The highest priority first.
        std::vector<std::int64_t> seqs;
        bool drained = false;  // There is nothing more.
    };
    struct flows_found {
        std::vector<tenant_rows> tenants;
        bool cut_short = false;
    };

    result<flows_found> find_flows(const due_question& asked);
    result<> read(tenant_rows& into, std::size_t rows_max, const due_question& asked);
    result<> read_all(std::vector<tenant_rows>& tenants, const due_question& asked);

    flow_walk walk_;
    statement seqs_;
    std::map<std::string, flow, std::less<>> resume_after_;  // For destinations of many flows.
    std::size_t turn_ = 0;
};

}  // namespace posthorn::sqlite
