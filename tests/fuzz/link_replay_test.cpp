// The fuzzer's corpus of what comes to a standby, replayed by every run of the tests, and mutated at
// random.
#include <string>

#include <gtest/gtest.h>

#include "fuzz/link_target.hpp"
#include "fuzz/mutator.hpp"

namespace posthorn {
namespace {

void feed(const std::string& bytes) {
    fuzz_link(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

TEST(link_fuzz, survives_the_committed_corpus) {
    const auto all = read_corpus(POSTHORN_CORPUS);
    ASSERT_GE(all.size(), 10U);
    for (const auto& bytes : all) feed(bytes);
}

TEST(link_fuzz, survives_random_mutations_of_it) {
    const auto all = read_corpus(POSTHORN_CORPUS);
    mutator dice(11, std::string("\0\1\2\4\x0f\x10\xff\n -/:none019af", 22));
    for (int round = 0; round < 20'000; ++round)
        feed(dice.mutate(all[dice.below(all.size())], all[dice.below(all.size())]));
}

}  // namespace
}  // namespace posthorn
