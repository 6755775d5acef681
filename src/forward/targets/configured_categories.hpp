#pragma once

#include <string>
#include <vector>

#include "base/async/executor.hpp"
#include "feature/peer_calls.hpp"
#include "feature/settings.hpp"
#include "feature/watched_nodes.hpp"
#include "forward/forward_desk.hpp"
#include "store/outside_database.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

/// A category whose work goes to a web service, to another node or into a database, by configuration
/// alone.
struct configured_category {
    std::string name;
    std::string url;  // `{target}` in it stands for the target.
    forward_category how{};
    std::string database{};  // Where `sql:` statements run.
    bool once = false;       // And whether a table of ours there sees to it that they do once.
};

/// `error_code::invalid_configuration` with the number of the entry and what to write.
[[nodiscard]] result<std::vector<configured_category>> read_categories(
    const feature_settings& said);

/// What the ways to targets stand on.
struct target_means {
    web_client web;
    const peer_calls& peers;
    outside_opener open_outside;
    executor& workers;
};
/// By what `to` says. `error_code::invalid_configuration` for a database that is none.
[[nodiscard]] result<forward_asker> make_target_asker(configured_category to,
                                                      const target_means& with);

/// Posts work: at least once, with its id as the key by which the service knows a repeat.
[[nodiscard]] forward_asker make_forward_asker(configured_category to, web_client web);

/// Where work goes, and as what. Pure.
[[nodiscard]] std::string forward_url(std::string_view url, std::string_view target);
[[nodiscard]] http_request forward_request(const forward_message& work);
/// What an answer means. 2xx takes it; 429, 502, 503 and 504 speak for the service and charge
/// nothing; other 4xx than 401, 408 and 425 refuse it for good; the rest is tried again. Pure.
[[nodiscard]] delivery judge_forward_answer(const http_response& answer);

}  // namespace posthorn
