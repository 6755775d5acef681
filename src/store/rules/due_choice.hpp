#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/outbox_table.hpp"
#include "store/rules/flow.hpp"

namespace posthorn {

/// Which rows are to be read in whole, in this order.
struct chosen_rows {
    std::vector<std::int64_t> seqs;
    bool more = false;
};

/// Finds out which due rows of a destination come next; how rows are found is each store's own.
///
/// Tenants share a page evenly; of a tenant, the highest priority comes first. Where there are more
/// flows, or more tenants, than one look takes in, the next look goes on with those after them.
///
/// Threads: one at a time.
class due_choice {
public:
    explicit due_choice(flow_source& flows) : flows_(flows) {}
    virtual ~due_choice() = default;

    result<chosen_rows> choose(const due_question& asked);

protected:
    /// What a tenant has due, as far as it was looked at.
    struct tenant_rows {
        std::vector<flow> flows;  // The highest priority first.
        std::vector<std::int64_t> seqs;
        bool drained = false;  // There is nothing more.
    };

private:
    struct flows_found {
        std::vector<tenant_rows> tenants;
        bool cut_short = false;
    };

    /// Of how many tenants rows are read in one question.
    [[nodiscard]] virtual std::size_t tenants_at_once() const noexcept = 0;
    /// Fills in up to `rows_max` rows of each of the tenants anew, and whether these were all.
    virtual result<> read(std::span<tenant_rows* const> tenants, std::size_t rows_max,
                          const due_question& asked) = 0;

    result<> read_all(std::vector<tenant_rows>& tenants, const due_question& asked);
    result<flows_found> find_flows(const due_question& asked);

    flow_source& flows_;
    std::map<std::string, flow, std::less<>> resume_after_;  // For destinations of many flows.
    std::size_t turn_ = 0;
};

/// What all flows together say.
///
/// Threads: one at a time.
class due_outlook {
public:
    explicit due_outlook(flow_source& flows) : flows_(flows) {}

    /// Where something is due.
    result<std::vector<std::string>> destinations(wall_time now);
    /// When something falls due next, or did.
    result<std::optional<wall_time>> next();

private:
    flow_source& flows_;
    std::optional<flow> destinations_after_;  // Where the next look goes on, if one was too long.
    std::optional<flow> next_after_;
};

}  // namespace posthorn
