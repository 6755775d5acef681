#pragma once

#include "base/run/environment.hpp"
#include "store/store.hpp"
#include "transport/transport.hpp"

namespace posthorn {

/// Lets events of the catalogue's types through to fan-out, and gives up the others, so that a
/// misspelt type is a dead letter and not an event that no subscriber hears of.
///
/// Lifetime: as that of the transport behind it.
/// Threads:  the network executor.
class known_events final : public transport {
public:
    known_events(store& where, const environment& env, transport& behind)
        : where_(where), env_(env), behind_(behind) {}

    task<std::vector<delivery>> deliver(message_batch batch) override;
    [[nodiscard]] bool traces_itself() const noexcept override { return behind_.traces_itself(); }

private:
    store& where_;
    const environment& env_;
    transport& behind_;
};

}  // namespace posthorn
