#include <fmt/format.h>

#include <posthorn/error.hpp>
#include <posthorn/workflow/hosting.hpp>

#include "store/swallowed.hpp"

/// What programs do with workflows in their transactions: plain SQL, as any language can write it.
namespace posthorn::detail {
namespace {

constexpr std::size_t id_size_max = 500;

void require_id(std::string_view id) {
    if (id.empty() || id.size() > id_size_max)
        throw error(error_code::invalid_argument,
                    fmt::format("the id of a workflow has 1 to {} bytes; this one has {}",
                                id_size_max, id.size()));
}

}  // namespace

void start_workflow(transaction& in, const workflow_entry& code, std::string_view id,
                    std::string_view arguments) {
    require_id(id);
    const auto started = in.execute(
        "INSERT INTO workflow_instances (workflow, version, id, arguments) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (workflow, id) DO NOTHING",
        code.name(), code.version(), id, arguments);
    if (started == 0)
        throw error(error_code::duplicate_id,
                    fmt::format("{} {} was started before; each id is used once", code.name(), id));
}

void tell_signal(transaction& in, std::string_view signal, std::string_view payload,
                 const workflow_entry* code, std::string_view id) {
    if (code == nullptr) {
        const auto told = in.execute("INSERT INTO workflow_signals (signal, payload) VALUES (?, ?)",
                                     signal, payload);
        if (told == 0) throw swallowed("workflow_signals").error();
        return;
    }
    require_id(id);
    const auto told = in.execute(
        "INSERT INTO workflow_signals (signal, payload, workflow, id)"
        " SELECT ?, ?, workflow, id FROM workflow_instances WHERE workflow = ? AND id = ?"
        " AND status IN ('starting', 'running', 'paused', 'quarantined')",
        signal, payload, code->name(), id);
    if (told == 0)
        throw error(
            error_code::not_found,
            fmt::format("{} {} is not open, so nothing can be told to it", code->name(), id));
}

bool cancel_workflow(transaction& in, const workflow_entry& code, std::string_view id,
                     std::string_view reason) {
    return in.execute(
               "INSERT INTO workflow_mailbox (instance, kind, payload)"
               " SELECT instance, 'cancel', ? FROM workflow_instances WHERE workflow = ? AND id = ?"
               " AND status IN ('starting', 'running', 'paused', 'quarantined')",
               reason, code.name(), id) > 0;
}

}  // namespace posthorn::detail
