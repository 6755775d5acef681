#include "webhook/fair_slots.hpp"

#include <algorithm>

namespace posthorn {
namespace {

constexpr std::size_t tests_of_tenant_max = 8;

std::size_t part(std::size_t all, std::size_t divisor) {
    return std::max<std::size_t>(1, all / divisor);
}

}  // namespace

std::optional<fair_slots::slot> fair_slots::take(asker who) {
    const auto found = by_tenant_.find(who.tenant);
    const auto had = found == by_tenant_.end() ? share{} : found->second;
    const bool suspect = who.is_test || silent_.contains(who.endpoint);
    if (taken_ >= all_) return std::nullopt;
    if (taken_ >= all_ - part(all_, 4) && had.taken >= part(all_, 16)) return std::nullopt;
    if (suspect && suspects_ >= part(all_, 4)) return std::nullopt;
    if (who.is_test && had.tests >= tests_of_tenant_max) return std::nullopt;
    auto& has = by_tenant_[who.tenant];
    ++has.taken;
    has.tests += who.is_test ? 1 : 0;
    ++taken_;
    suspects_ += suspect ? 1 : 0;
    return std::optional<slot>(std::in_place, *this, std::move(who), suspect);
}

void fair_slots::give_back(const asker& who, bool suspect) {
    --taken_;
    suspects_ -= suspect ? 1 : 0;
    const auto found = by_tenant_.find(who.tenant);
    found->second.tests -= who.is_test ? 1 : 0;
    if (--found->second.taken == 0) by_tenant_.erase(found);
}

}  // namespace posthorn
