#include "admin/gate.hpp"

#include <utility>

#include <fmt/format.h>

#include "feature/answers.hpp"

namespace posthorn {
namespace {

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

// The handler lives in its route, which outlives the run.
task<http_response> change(audit& kept, const admin_handler& handler, http_request request,
                           admin_caller who) {
    auto entry = entry_of(request, who.name, "begun");
    const auto row = co_await kept.begin(entry);
    if (!row) co_return answer_to_error(row.error());
    entry.outcome = "failed";
    http_response response;
    std::exception_ptr thrown;
    try {
        response = co_await handler(std::move(request), std::move(who));
        entry.outcome =
            response.status < 300 ? "done" : fmt::format("answered {}", response.status);
    } catch (...) {
        thrown = std::current_exception();
    }
    co_await kept.finish(*row, std::move(entry));
    if (thrown) std::rethrow_exception(thrown);
    co_return response;
}

task<http_response> answer(http_response response) { co_return response; }

}  // namespace

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
        if (needed == admin_role::operator_)
            return answer_to(has_key,
                             change(audit_, handler, std::move(request), *std::move(caller)));
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
                                            .payloads = true,
                                            .by = admin_way::file});
    };
}

http_response open_gate::refuse(const http_request& /*request*/, const admin_caller& /*who*/,
                                std::string_view why) {
    return denied(403, why);
}

}  // namespace posthorn
