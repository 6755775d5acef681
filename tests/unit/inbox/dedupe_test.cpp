#include "inbox/dedupe.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using kind = dedupe_decision::kind;

constexpr wall_time now{500'000h};
constexpr body_hash ours{std::byte{1}};
constexpr body_hash other{std::byte{2}};

inbox_entry processed(const body_hash& hash) {
    inbox_entry entry;
    entry.hash = hash;
    entry.processed = true;
    return entry;
}

inbox_entry claimed(const body_hash& hash, wall_time until) {
    inbox_entry entry;
    entry.hash = hash;
    entry.claimed_until = until;
    return entry;
}

struct dedupe_case {
    std::string name;
    std::optional<inbox_entry> known;
    dedupe_decision expected;
};

void PrintTo(const dedupe_case& one, std::ostream* out) { *out << one.name; }

class dedupe_table : public testing::TestWithParam<dedupe_case> {};

TEST_P(dedupe_table, decides) {
    const auto& known = GetParam().known;
    EXPECT_EQ(decide(known ? &*known : nullptr, ours, now, 60s), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    all, dedupe_table,
    testing::Values(
        dedupe_case{"new_one", std::nullopt, {kind::run}},
        dedupe_case{"processed", processed(ours), {kind::duplicate}},
        dedupe_case{"processed_with_another_body", processed(other), {kind::conflict}},
        dedupe_case{"claimed", claimed(ours, now + 20s), {kind::in_progress, 20s}},
        dedupe_case{"claimed_for_a_moment", claimed(ours, now + 1ms), {kind::in_progress, 100ms}},
        dedupe_case{"claimed_with_another_body", claimed(other, now + 20s), {kind::conflict}},
        dedupe_case{"claim_ran_out", claimed(ours, now), {kind::run}},
        dedupe_case{"claim_ran_out_with_another_body", claimed(other, now), {kind::conflict}},
        dedupe_case{"clock_stepped_back", claimed(ours, now + 5min), {kind::in_progress, 60s}},
        dedupe_case{"as_far_as_believed", claimed(ours, now + 6min), {kind::in_progress, 60s}},
        dedupe_case{"clock_set_back_far", claimed(ours, now + 6min + 1ms), {kind::run}},
        dedupe_case{"clock_set_back_ten_years", claimed(ours, now + 87'600h), {kind::run}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace posthorn
