#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "store/store.hpp"

namespace posthorn {

struct known_site {
    std::string site;
    std::string service;
    std::string first_seen;
    std::string last_told;  // When it last told of a call; empty if it has not.
    std::int64_t calls = 0;
    std::int64_t parked = 0;
    std::int64_t notifications = 0;
};

/// A row of the mirror, as an operator sees it.
struct site_call {
    std::int64_t seq = 0;
    std::string id;
    std::string site;
    std::string service;
    std::string kind;
    std::string target;
    std::string status;
    std::int64_t retry_count = 0;
    std::int64_t attempts = 0;
    std::string last_error{};
    std::optional<std::int64_t> http_status{};
    std::string created_at{};
    std::string updated_at{};
    std::string ended_at{};
    std::string source_instance{};
    std::string received_at{};
};

struct call_filter {
    std::string service{};  // Any if empty; so are the others.
    std::string site{};
    std::string status{};
    std::int64_t after = 0;
    std::int64_t limit = 100;
};

struct site_notification {
    std::int64_t seq = 0;
    std::string id;
    std::string site;
    std::string service;
    std::string instance;
    std::int64_t bytes = 0;
    std::string received_at;
};

[[nodiscard]] result<std::vector<known_site>> read_sites(store_reader& from);
/// By the name of the site or, for one that has none, by its service. `error_code::not_found` says
/// what to do instead, also where several sites have no name.
[[nodiscard]] result<known_site> find_site(store_reader& from, std::string_view name);
[[nodiscard]] result<std::vector<site_call>> read_site_calls(store_reader& from,
                                                             const call_filter& which);
[[nodiscard]] result<std::vector<site_notification>> read_notifications(store_reader& from,
                                                                        std::int64_t after,
                                                                        std::int64_t limit);

/// Calls that ended before then, of which the mirror need not know any more.
[[nodiscard]] result<bool> may_purge_calls(store_reader& from, std::string_view before);
[[nodiscard]] result<std::int64_t> purge_calls(store_transaction& tx, std::string_view before,
                                               std::int64_t limit);

}  // namespace posthorn
