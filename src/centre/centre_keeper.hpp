#pragma once

#include <chrono>

#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "feature/upkeep_watch.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Lets the mirror forget calls that ended long ago.
class centre_keeper final : public node_service {
public:
    struct deps {
        store& where;
        const environment& env;
    };

    centre_keeper(deps with, std::chrono::milliseconds kept)
        : with_(with), kept_(kept), upkeep_(with.env.log) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "centre keeper"; }
    task<> run() override;
    [[nodiscard]] std::vector<health_worry> worries() const { return upkeep_.worries(); }

private:
    task<> purge();

    deps with_;
    std::chrono::milliseconds kept_;
    upkeep_watch upkeep_;
};

}  // namespace posthorn
