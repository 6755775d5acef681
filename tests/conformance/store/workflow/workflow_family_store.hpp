#pragma once

#include <string>

#include <fmt/format.h>

#include "conformance/store/workflow/workflow_store.hpp"
#include "engine/steps/family.hpp"

namespace posthorn::conformance {

inline workflow<void> anything(flow<>& f) { co_await f.sleep(std::chrono::hours(1)); }

inline const detail::workflow_entry& code_of_version(unsigned version) {
    static const detail::workflow_entry first(reinterpret_cast<detail::any_function>(&anything),
                                              "W", 1U,
                                              &detail::workflow_entry::make<void, no_state>);
    static const detail::workflow_entry second(reinterpret_cast<detail::any_function>(&anything),
                                               "W", 2U,
                                               &detail::workflow_entry::make<void, no_state>);
    return version == 1 ? first : second;
}

class workflow_family_store : public workflow_store {
protected:
    /// A step of an instance on its way into the database.
    pending_step step_of(std::int64_t instance, const std::string& id, std::int64_t run = 1) {
        pending_step step{
            .of = {.instance = instance, .workflow = "W", .version = 1, .id = id, .run = run}};
        return step;
    }
    static detail::flow_command& add_command(pending_step& step, detail::command_kind kind,
                                             const std::string& id) {
        auto& made = step.did.commands.emplace_back();
        made.number = static_cast<std::uint32_t>(step.did.commands.size());
        made.kind = kind;
        made.name = "W";
        made.code = &code_of_version(1);
        made.payload = {static_cast<std::uint32_t>(step.did.text.size()), 2};
        step.did.text += "[]";
        made.id = {static_cast<std::uint32_t>(step.did.text.size()),
                   static_cast<std::uint32_t>(id.size())};
        step.did.text += id;
        step.made.add(kind);
        return made;
    }
    void begin(const std::string& parent, const std::string& child,
               child_fate fate = child_fate::cancel, std::int64_t run = 1) {
        const auto instance =
            number(fmt::format("SELECT instance FROM workflow_instances WHERE id = '{}'", parent));
        auto step = step_of(instance, parent, run);
        add_command(step, detail::command_kind::child, child).fate = fate;
        must([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(change(tx, "DELETE FROM workflow_watches WHERE instance = ?", instance));
            step.results.clear();
            return begin_child(tx, step, step.did.commands.front());
        });
    }
    std::string kinds_of(const std::string& id) {
        return text(fmt::format(
            "SELECT coalesce(max(m.kind || ' ' || m.payload), 'none') FROM workflow_mailbox m"
            " JOIN workflow_instances i ON i.instance = m.instance WHERE i.id = '{}'",
            id));
    }
};

}  // namespace posthorn::conformance
