#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "base/result.hpp"

namespace posthorn::cli {

struct header_wish {
    std::string name;  // Of the namespace: what the other service is called here.
    std::string from;  // Where the metadata came from, for readers of the header.
};

/// A C++ header with the messages of another service, to be sent by `posthorn::proxy`. Each of its
/// interfaces is a namespace with its types and `service`. Pure; the same metadata gives the same
/// text. Fails with `malformed_request` for metadata whose names cannot stand in C++: their author
/// must not be able to write code.
[[nodiscard]] result<std::string> write_contract_header(const boost::json::object& metadata,
                                                        const header_wish& wish);

/// `OrderApproved` or `orderId` as `order_approved`, `order_id`; never a keyword.
[[nodiscard]] std::string to_identifier(std::string_view name);
/// Likewise for a namespace beside what C declares: `time` as `time_service`.
[[nodiscard]] std::string to_namespace(std::string_view name);

}  // namespace posthorn::cli
