#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

namespace posthorn::cli {

/// One difference between what a service offered and what it offers.
struct contract_change {
    bool is_breaking = false;  // For those who were built against the old one.
    std::string where{};       // `emp/v1/Hire request.who`
    std::string what{};

    bool operator==(const contract_change&) const = default;
};

/// Compares two documents of metadata. Pure.
///
/// Requests are written by those who know the old contract and read by the new one, responses the
/// other way round; a change breaks if some of what is written could not be read.
[[nodiscard]] std::vector<contract_change> compare_contracts(const boost::json::object& before,
                                                             const boost::json::object& after);

}  // namespace posthorn::cli
