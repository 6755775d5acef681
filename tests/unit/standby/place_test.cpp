#include "standby/place.hpp"

#include <gtest/gtest.h>

namespace posthorn::standby {
namespace {

using enum next_step;
using phase = standby_phase;

constexpr stream_id ours{std::byte{7}};
constexpr stream_id another{std::byte{8}};
constexpr log_salts now{std::byte{1}};
constexpr log_salts earlier{std::byte{2}};
constexpr log_place end_before{.salts = earlier, .offset = 5'000, .sum = {5, 6}};

constexpr primary_place primary{.stream = ours,
                                .epoch = 3,
                                .salts = now,
                                .end = 9'000,
                                .sum_there = log_sum{1, 2},
                                .before = end_before};

struct meeting {
    const char* what;
    standby_place standby;
    primary_place primary;
    next_step then;
};

standby_place at(log_place where, phase how = phase::following, std::uint64_t epoch = 3) {
    return {.stream = ours, .epoch = epoch, .phase = how, .at = where};
}

primary_place without_sum() {
    auto changed = primary;
    changed.sum_there.reset();
    return changed;
}

primary_place just_started() {
    auto changed = primary;
    changed.before.reset();
    return changed;
}

const log_place in_the_log{now, 8'000, {1, 2}};

TEST(places_of_a_pair, decide_how_the_two_go_on) {
    const std::vector<meeting> table{
        {"empty", {}, primary, copy},
        {"empty, of a stream that it forgot", {.stream = another}, primary, copy},
        {"of another database", {another, 3, phase::following, in_the_log}, primary, refuse_stream},
        {"a part of another's copy", {another, 3, phase::copying, {}}, primary, refuse_stream},
        {"promoted", at(in_the_log, phase::promoted, 4), primary, refuse_epoch},
        {"that gave its role away", at(in_the_log, phase::handing), primary, refuse_epoch},
        {"of a newer epoch", at(in_the_log, phase::following, 4), primary, refuse_epoch},
        {"of an older epoch", at(in_the_log, phase::following, 2), primary, go_on},
        {"a part of a copy", at(in_the_log, phase::copying), primary, copy},
        {"in the log, with the same sum", at(in_the_log), primary, go_on},
        {"in the log, with another sum", at({now, 8'000, {1, 3}}), primary, copy},
        {"where no frame of the log ends", at(in_the_log), without_sum(), copy},
        {"beyond the log's end", at({now, 9'500, {1, 2}}), primary, copy},
        {"at the end of the generation before", at(end_before), primary, next_generation},
        {"there, which this run has not seen", at(end_before), just_started(), copy},
        {"short of that end", at({earlier, 4'000, {5, 6}}), primary, copy},
        {"at that end with another sum", at({earlier, 5'000, {5, 7}}), primary, copy},
        {"in a generation long gone", at({{std::byte{9}}, 5'000, {5, 6}}), primary, copy},
    };
    for (const auto& each : table)
        EXPECT_EQ(judge(each.standby, each.primary), each.then) << each.what;
}

}  // namespace
}  // namespace posthorn::standby
