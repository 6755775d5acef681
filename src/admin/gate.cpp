#include "admin/gate.hpp"

#include <utility>

#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include "feature/answers.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

audit_entry entry_of(const http_request& request, std::string who, std::string outcome) {
    if (who.empty()) who = "unknown";
    return {.who = std::move(who),
            .what = request.method,
            .target = request.path,
            .outcome = std::move(outcome)};
}

http_response denied(std::uint16_t status, std::string_view why) {
    auto response = error_response(status, describe(error_code::access_denied).name, why);
    if (status == 401) response.headers.add("WWW-Authenticate", "Bearer");
    return response;
}

/// "done", and of an edit the names of what it changed; never the values.
std::string outcome_of_change(std::string_view path, std::string_view body) {
    boost::system::error_code unreadable;
    const auto given = path.ends_with("/edit") ? json::parse(body, unreadable) : json::value{};
    if (unreadable || !given.is_object()) return "done";
    std::string names;
    for (const auto& each : given.get_object())
        names += fmt::format("{}{}", names.empty() ? "done: " : ", ", std::string_view(each.key()));
    return names.empty() ? "done" : names;
}

task<http_response> answer(http_response response) { co_return response; }

}  // namespace

task<http_response> audited(audit& kept, std::string who, http_request request,
                            http_handler change) {
    auto entry = entry_of(request, std::move(who), "begun");
    const auto row = co_await kept.begin(entry);
    if (!row) co_return answer_to_error(row.error());
    entry.outcome = "failed";
    const auto if_done = outcome_of_change(request.path, request.body);
    http_response response;
    std::exception_ptr thrown;
    try {
        response = co_await change(std::move(request));
        entry.outcome =
            response.status < 300 ? if_done : fmt::format("answered {}", response.status);
    } catch (...) {
        thrown = std::current_exception();
    }
    co_await kept.finish(*row, std::move(entry));
    if (thrown) std::rethrow_exception(thrown);
    co_return response;
}

namespace {

// Who is let in without a key, where there are none, has shown nothing, and gives way to others.
task<http_response> answer_to(bool has_key, task<http_response> answering) {
    auto response = co_await std::move(answering);
    response.known_caller = has_key;
    co_return response;
}

}  // namespace

http_response refused(audit& kept, const http_request& request, const admin_refusal& why) {
    kept.refused(entry_of(request, why.who, fmt::format("{}: {}", why.status, why.why)));
    return denied(why.status, why.why);
}

http_handler key_gate::guarded(std::optional<admin_role> needed, admin_handler handler) {
    return [this, needed, handler = std::move(handler)](http_request request) {
        auto caller = access_.admit(request, needed);
        if (!caller) {
            auto& refusal = caller.error();
            if (refusal.who.empty()) refusal.who = access_.address_of(request);
            return answer(refused(audit_, request, refusal));
        }
        const bool has_key = caller->by != admin_way::loopback;
        // The handler lives in its route, which outlives the run.
        if (needed == admin_role::operator_)
            return answer_to(has_key, audited(audit_, caller->name, std::move(request),
                                              [&handler, who = *caller](http_request asked) {
                                                  return handler(std::move(asked), who);
                                              }));
        return answer_to(has_key, handler(std::move(request), *std::move(caller)));
    };
}

http_response key_gate::refuse(const http_request& request, const admin_caller& who,
                               std::string_view why) {
    audit_.refused(entry_of(request, who.name, fmt::format("403: {}", why)));
    return denied(403, why);
}

http_handler open_gate::guarded(std::optional<admin_role> /*needed*/, admin_handler handler) {
    return [handler = std::move(handler)](http_request request) {
        return handler(std::move(request), {.name = "file",
                                            .role = admin_role::operator_,
                                            .rights = {.payloads = true, .secrets = true},
                                            .by = admin_way::file});
    };
}

http_response open_gate::refuse(const http_request& /*request*/, const admin_caller& /*who*/,
                                std::string_view why) {
    return denied(403, why);
}

}  // namespace posthorn
