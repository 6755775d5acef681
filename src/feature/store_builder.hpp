#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "base/run/environment.hpp"
#include "feature/settings.hpp"
#include "store/log_shipper.hpp"

namespace posthorn {

/// The database that a node is about to open, as far as a feature may care.
struct store_plan {
    std::filesystem::path file{};  // Empty on a server.
    std::string service{};
    bool on_server = false;
    bool in_memory = false;
    bool has_own_inbox = false;  // Handlers write to another file.
    bool has_inbox = true;       // Messages are taken in at all.
    bool syncs_commits = true;   // What is answered is on this disk.
};

/// What features have added before the database was opened. It outlives that.
struct store_parts {
    std::vector<std::shared_ptr<void>> objects{};
    log_shipper* shipper = nullptr;
    std::vector<std::pair<std::type_index, void*>> shown{};
};

/// What a feature is given before the node opens its database, and where it puts what must be there
/// by then.
///
/// Lifetime: `feature::before_store`; what it refers to, and what is made with `make`, outlives the
///           database.
class store_builder {
public:
    struct given {
        const environment& env;
        const store_plan& plan;
        feature_settings settings;
    };

    store_builder(given with, store_parts& into) : with_(std::move(with)), into_(into) {}

    [[nodiscard]] const environment& env() const noexcept { return with_.env; }
    [[nodiscard]] const store_plan& plan() const noexcept { return with_.plan; }
    [[nodiscard]] const feature_settings& settings() const noexcept { return with_.settings; }

    /// An object that outlives the database.
    template <class T, class... Args>
    T& make(Args&&... args) {
        auto made = std::make_shared<T>(std::forward<Args>(args)...);
        auto& object = *made;
        into_.objects.push_back(std::move(made));
        return object;
    }
    /// Takes what the node's own database commits elsewhere. From `make`.
    void ship_with(log_shipper& one) { into_.shipper = &one; }
    /// To be found by its type with `node_builder::find`, by this feature too. From `make`.
    template <class T>
    void show(T& one) {
        into_.shown.emplace_back(typeid(T), &one);
    }

private:
    given with_;
    store_parts& into_;
};

}  // namespace posthorn
