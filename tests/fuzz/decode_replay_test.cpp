// The fuzzer's corpus, replayed by every run of the tests, and mutated at random for a while.
#include <string>

#include <gtest/gtest.h>

#include "fuzz/decode_target.hpp"
#include "fuzz/mutator.hpp"
#include "support/random_order.hpp"

namespace posthorn {
namespace {

void feed(const std::string& text) {
    fuzz_decode(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

TEST(decode_fuzz, survives_the_committed_corpus) {
    const auto texts = read_corpus(POSTHORN_CORPUS);
    ASSERT_GE(texts.size(), 10U);
    for (const auto& text : texts) feed(text);
}

TEST(decode_fuzz, survives_random_mutations_of_it) {
    auto texts = read_corpus(POSTHORN_CORPUS);
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        texts.push_back(encode(shop::random_order(seed).make()));
    mutator dice(7, "{}[]\",:\\-0eEtfn.");
    for (int round = 0; round < 4'000; ++round)
        feed(dice.mutate(texts[dice.below(texts.size())], texts[dice.below(texts.size())]));
}

}  // namespace
}  // namespace posthorn
