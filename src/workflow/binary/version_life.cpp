#include "workflow/binary/version_life.hpp"

#include <algorithm>

namespace posthorn {
namespace {

const deployed_version* find(std::span<const deployed_version> known, std::string_view workflow,
                             unsigned version) {
    for (const auto& each : known)
        if (each.workflow == workflow && each.version == version) return &each;
    return nullptr;
}

deployed_state after_active(const deployed_version& one) {
    return one.open > 0 ? deployed_state::draining : deployed_state::drained;
}

}  // namespace

std::string_view to_string(deployed_state state) noexcept {
    switch (state) {
        case deployed_state::inactive: return "inactive";
        case deployed_state::active: return "active";
        case deployed_state::draining: return "draining";
        case deployed_state::drained: break;
    }
    return "drained";
}

result<std::vector<version_change>> plan_upload(std::span<const deployed_version> known,
                                                const binary_manifest& manifest,
                                                std::string_view binary) {
    std::vector<version_change> changes;
    for (const auto& each : manifest.workflows) {
        const auto* const before = find(known, each.name, each.version);
        if (before != nullptr && before->binary != binary)
            return fail(error_code::id_reused,
                        "version {} of {} was deployed before, with other bytes; open workflows "
                        "may have begun with those, so give the new ones another version",
                        each.version, each.name);
        if (before == nullptr)
            changes.push_back({each.name, each.version, deployed_state::inactive});
    }
    return changes;
}

result<std::vector<version_change>> plan_activation(std::span<const deployed_version> known,
                                                    std::string_view workflow, unsigned version) {
    const auto* const chosen = find(known, workflow, version);
    if (chosen == nullptr)
        return fail(error_code::not_found, "version {} of {} was not deployed", version, workflow);
    std::vector<version_change> changes;
    if (chosen->state == deployed_state::active) return changes;
    for (const auto& each : known)
        if (each.workflow == workflow && each.state == deployed_state::active)
            changes.push_back({each.workflow, each.version, after_active(each)});
    changes.push_back({chosen->workflow, version, deployed_state::active});
    return changes;
}

result<std::vector<version_change>> plan_roll_back(std::span<const deployed_version> known,
                                                   std::string_view workflow) {
    const deployed_version* before = nullptr;
    for (const auto& each : known) {
        const bool was_active = each.workflow == workflow && each.activated_at > 0 &&
                                each.state != deployed_state::active;
        if (was_active && (before == nullptr || each.activated_at > before->activated_at))
            before = &each;
    }
    if (before == nullptr)
        return fail(error_code::not_found, "no version of {} was active before", workflow);
    return plan_activation(known, workflow, before->version);
}

std::vector<version_change> plan_drained(std::span<const deployed_version> known) {
    std::vector<version_change> changes;
    for (const auto& each : known)
        if (each.state == deployed_state::draining && each.open == 0)
            changes.push_back({each.workflow, each.version, deployed_state::drained});
    return changes;
}

bool is_runner_needed(std::span<const deployed_version> known, std::string_view binary) noexcept {
    return std::ranges::any_of(known, [&](const deployed_version& each) {
        return each.binary == binary && (each.state == deployed_state::active ||
                                         each.state == deployed_state::draining || each.open > 0);
    });
}

}  // namespace posthorn
