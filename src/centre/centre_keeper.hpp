#pragma once

#include <chrono>

#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Lets the mirror forget calls that ended long ago.
class centre_keeper final : public node_service {
public:
    struct deps {
        store& where;
        const environment& env;
    };

    centre_keeper(deps with, std::chrono::milliseconds kept) : with_(with), kept_(kept) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "centre keeper"; }
    task<> run() override;

private:
    task<> purge();

    deps with_;
    std::chrono::milliseconds kept_;
};

}  // namespace posthorn
