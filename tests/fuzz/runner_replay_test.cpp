// The fuzzer's corpus of frames between engine and runner, replayed by every run of the tests, and mutated at random.
#include <string>

#include <gtest/gtest.h>

#include "fuzz/mutator.hpp"
#include "fuzz/runner_target.hpp"

namespace posthorn {
namespace {

void feed(const std::string& bytes) {
    fuzz_runner(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

TEST(runner_fuzz, survives_the_committed_corpus) {
    const auto all = read_corpus(POSTHORN_CORPUS);
    ASSERT_GE(all.size(), 10U);
    for (const auto& bytes : all) feed(bytes);
}

TEST(runner_fuzz, survives_random_mutations_of_it) {
    const auto all = read_corpus(POSTHORN_CORPUS);
    mutator dice(17, std::string("\0\1\2\4\7\x0b\x10\x7f\x80\xffPhWf{}[]\"o1", 21));
    for (int round = 0; round < 20'000; ++round)
        feed(dice.mutate(all[dice.below(all.size())], all[dice.below(all.size())]));
}

}  // namespace
}  // namespace posthorn
