#include "audit/audit_feature.hpp"

#include <array>

#include "audit/audit.hpp"
#include "audit/audit_routes.hpp"
#include "feature/node_builder.hpp"

namespace posthorn {
namespace {

constexpr std::array list_options{
    feature_option{.name = "who", .doc = "only what this key or address did"},
    feature_option{.name = "target", .doc = "only where the target has this in it"},
    feature_option{.name = "outcome", .doc = "only where the outcome has this in it"},
    feature_option{.name = "since", .doc = "only then or later, such as 2026-02-14T12:00:00Z"},
    feature_option{.name = "until", .doc = "only before"},
    feature_option{.name = "limit", .doc = "how many at most, 1 to 1000", .number = true},
    feature_option{.name = "before", .doc = "go on where a page ended", .number = true},
};
constexpr std::array list_columns{
    feature_column{"AT", "at"},           feature_column{"WHO", "who"},
    feature_column{"WHAT", "what"},       feature_column{"TARGET", "target"},
    feature_column{"OUTCOME", "outcome"},
};
constexpr std::array list_commands{
    feature_command{.name = "list",
                    .summary = "list changes and refusals, newest first",
                    .method = "GET",
                    .path = "/_rf/audit",
                    .options = list_options,
                    .list = "entries",
                    .columns = list_columns,
                    .example = "posthorn audit list --who desk-3 --target /_rf/dead"},
};

/// The admin listener's gate writes it; this brings the table and shows it.
class shown_audit final : public feature {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "audit"; }
    [[nodiscard]] table_set tables() const noexcept override { return audit_tables(); }
    [[nodiscard]] std::string_view summary() const noexcept override {
        return "show who changed what through the admin API";
    }
    [[nodiscard]] std::span<const feature_command> commands() const noexcept override {
        return list_commands;
    }
    result<> install(node_builder& into) const override {
        into.add(audit_route(into.database(), into.env()));
        return {};
    }
};

}  // namespace

const feature& audit_feature() noexcept {
    static const shown_audit one;
    return one;
}

}  // namespace posthorn
