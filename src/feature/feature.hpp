#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "feature/check.hpp"
#include "feature/command.hpp"
#include "feature/settings.hpp"
#include "message/validate.hpp"
#include "store/migration.hpp"

namespace posthorn {

class node_builder;
class store_builder;
struct store_plan;

/// A mistake in a feature's section of the configuration.
struct feature_problem {
    std::string_view key;  // Without the section.
    error why;             // As `install` would give it, naming the key.
};

/// A capability above the boxes: a folder under `src/` and a line in `app/features.cpp`.
///
/// It is a description without state of its own. What it says of itself holds for every command and
/// every node of the program; `install` builds it into one node. How to write one:
/// docs/internals/adding-a-feature.md.
///
/// Lifetime: for ever.
/// Threads:  any; `install` on the thread that opens the node.
class feature {
public:
    virtual ~feature() = default;

    /// Also its section of the configuration, and its command.
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    /// Its tables on both databases, and how they are copied from the one to the other.
    [[nodiscard]] virtual table_set tables() const noexcept { return {}; }
    /// The keys of its section `[name]`.
    [[nodiscard]] virtual std::span<const feature_key> keys() const noexcept { return {}; }
    /// What may be written under `[handlers]` for an endpoint that it takes, such as `queue`; empty
    /// if it takes none. `node_builder::endpoints` names those endpoints.
    [[nodiscard]] virtual std::string_view handler_word() const noexcept { return {}; }
    /// Why `install` would refuse what is configured, as far as the values alone tell; nothing is
    /// opened or changed.
    [[nodiscard]] virtual std::vector<feature_problem> problems(
        const feature_settings& /*said*/, const message_limits& /*limits*/) const {
        return {};
    }
    /// The same for what the values mean on that database.
    [[nodiscard]] virtual std::vector<feature_problem> store_problems(
        const feature_settings& /*said*/, const store_plan& /*plan*/) const {
        return {};
    }
    /// `posthorn NAME …`, and what `posthorn help` says of it: one line, in the imperative.
    [[nodiscard]] virtual std::string_view summary() const noexcept { return {}; }
    [[nodiscard]] virtual std::span<const feature_command> commands() const noexcept { return {}; }
    /// What `posthorn doctor` looks at in its tables.
    [[nodiscard]] virtual std::span<const feature_check> checks() const noexcept { return {}; }
    /// What it leaves out of its tables, and would not be heard of otherwise.
    [[nodiscard]] virtual std::span<const odd_rows> odd() const noexcept { return {}; }
    /// Before the node opens its database; `install` comes after it.
    virtual result<> before_store(store_builder& /*into*/) const { return {}; }
    /// `error_code::invalid_configuration` if what was configured cannot work.
    virtual result<> install(node_builder& into) const = 0;
};

/// Those that the program has, in the order in which they are installed and started.
using feature_list = std::span<const feature* const>;

}  // namespace posthorn
