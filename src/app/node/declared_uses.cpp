#include "app/node/declared_uses.hpp"

namespace posthorn {

result<> check_uses(std::span<const detail::service_use> uses,
                    const std::function<route_facts(std::string_view destination)>& facts_of) {
    for (const auto& [service, destination] : uses) {
        const auto facts = facts_of(destination);
        if (!facts.exists)
            return fail(
                error_code::invalid_configuration,
                "a proxy of {} sends to '{}', which has no route; add it under [routes], or to "
                "the node's routes",
                service, destination);
        if (facts.leaves_process && !facts.has_secret)
            return fail(error_code::invalid_configuration,
                        "a proxy of {} sends to '{}' outside of this process without a secret; add "
                        "one under [secrets]",
                        service, destination);
    }
    return {};
}

}  // namespace posthorn
