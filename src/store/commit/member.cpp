#include "store/commit/member.hpp"

namespace posthorn {

changed_rows changed_by(std::span<const member> members) {
    changed_rows changed;
    for (const auto& one : members) {
        for (const auto& row : one.enqueued) changed.enqueued.push_back(row.seq);
        changed.received.insert(changed.received.end(), one.received.begin(), one.received.end());
    }
    return changed;
}

}  // namespace posthorn
