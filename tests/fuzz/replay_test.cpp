// The fuzzers' corpora, replayed by every run of the tests, and mutated for a while.
#include <string>

#include <gtest/gtest.h>

#include "fuzz/address_target.hpp"
#include "fuzz/admin_target.hpp"
#include "fuzz/canonical_target.hpp"
#include "fuzz/configuration_target.hpp"
#include "fuzz/guard_target.hpp"
#include "fuzz/http_target.hpp"
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

class corpus_fuzz : public testing::TestWithParam<replayed> {};

TEST_P(corpus_fuzz, survives_the_committed_corpus_and_mutations_of_it) {
    const auto texts = read_corpus(POSTHORN_CORPUS "/" + GetParam().name);
    ASSERT_GE(texts.size(), 5U);
    for (const auto& text : texts) feed(GetParam(), text);
    mutator dice(7);
    for (int round = 0; round < 3'000; ++round)
        feed(GetParam(),
             dice.mutate(texts[dice.below(texts.size())], texts[dice.below(texts.size())]));
}

INSTANTIATE_TEST_SUITE_P(
    every, corpus_fuzz,
    testing::Values(replayed{"envelope", fuzz_envelope}, replayed{"batch", fuzz_batch},
                    replayed{"answer", fuzz_answer}, replayed{"signature", fuzz_signature},
                    replayed{"canonical", fuzz_canonical}, replayed{"http", fuzz_http},
                    replayed{"address", fuzz_address}, replayed{"guard", fuzz_guard},
                    replayed{"configuration", fuzz_configuration}, replayed{"admin", fuzz_admin}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace posthorn
