#include "base/trace/sampler.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace posthorn {
namespace {

struct named {
    std::string_view name;
    sampler::kind of_roots;
    bool heeds_parent;
};

using enum sampler::kind;
constexpr std::array names{named{"always_on", always, false},
                           named{"always_off", never, false},
                           named{"traceidratio", sampler::kind::ratio, false},
                           named{"parentbased_always_on", always, true},
                           named{"parentbased_always_off", never, true},
                           named{"parentbased_traceidratio", sampler::kind::ratio, true}};

/// The lower 63 bits are evenly spread; those below the bound are the share that is wanted.
bool is_within(const trace_id& of, double share) noexcept {
    if (share >= 1) return true;
    if (!(share > 0)) return false;
    const auto bound = static_cast<std::uint64_t>(std::ldexp(share, 63));
    return (of.low & (UINT64_MAX >> 1U)) < bound;
}

}  // namespace

bool sampler::samples(const trace_id& of, const span_context* parent) const noexcept {
    if (parent != nullptr && heeds_parent) return parent->is_sampled();
    switch (of_roots) {
        case kind::always: return true;
        case kind::never: return false;
        case kind::ratio: return is_within(of, ratio);
    }
    std::unreachable();
}

std::optional<sampler> parse_sampler(std::string_view name, double ratio) noexcept {
    for (const auto& one : names)
        if (one.name == name)
            return sampler{
                .of_roots = one.of_roots, .heeds_parent = one.heeds_parent, .ratio = ratio};
    return std::nullopt;
}

std::string_view name_of(const sampler& one) noexcept {
    for (const auto& each : names)
        if (each.of_roots == one.of_roots && each.heeds_parent == one.heeds_parent)
            return each.name;
    return {};
}

}  // namespace posthorn
