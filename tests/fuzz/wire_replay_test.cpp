// The corpora of the wire's fuzzers, replayed by every run of the tests, and mutated for a while.
#include <string>

#include <gtest/gtest.h>

#include "fuzz/mutator.hpp"
#include "fuzz/wire_target.hpp"

namespace posthorn {
namespace {

struct replayed {
    std::string name;
    void (*target)(const std::uint8_t*, std::size_t);
};

void feed(const replayed& to, const std::string& text) {
    to.target(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

class wire_fuzz : public testing::TestWithParam<replayed> {};

TEST_P(wire_fuzz, survives_the_committed_corpus_and_mutations_of_it) {
    const auto texts = read_corpus(POSTHORN_CORPUS "/" + GetParam().name);
    ASSERT_GE(texts.size(), 5U);
    for (const auto& text : texts) feed(GetParam(), text);
    mutator dice(7);
    for (int round = 0; round < 3'000; ++round)
        feed(GetParam(),
             dice.mutate(texts[dice.below(texts.size())], texts[dice.below(texts.size())]));
}

INSTANTIATE_TEST_SUITE_P(wire, wire_fuzz,
                         testing::Values(replayed{"envelope", fuzz_envelope},
                                         replayed{"answer", fuzz_answer},
                                         replayed{"signature", fuzz_signature}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace posthorn
