// The fuzzer's corpus of deployed files, replayed by every run of the tests, and mutated at random.
#include <string>

#include <gtest/gtest.h>

#include "fuzz/binary_target.hpp"
#include "fuzz/mutator.hpp"

namespace posthorn {
namespace {

void feed(const std::string& bytes) {
    fuzz_binary(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

TEST(binary_fuzz, survives_the_committed_corpus) {
    const auto all = read_corpus(POSTHORN_CORPUS);
    ASSERT_GE(all.size(), 10U);
    for (const auto& bytes : all) feed(bytes);
}

TEST(binary_fuzz, survives_random_mutations_of_it) {
    const auto all = read_corpus(POSTHORN_CORPUS);
    mutator dice(13, std::string("\0\1\2\3\4\7\x10\x40\x7f\x80\xff\x45PosthornGNU{}\":", 26));
    for (int round = 0; round < 20'000; ++round)
        feed(dice.mutate(all[dice.below(all.size())], all[dice.below(all.size())]));
}

}  // namespace
}  // namespace posthorn
