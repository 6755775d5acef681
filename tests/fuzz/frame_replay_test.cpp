// The fuzzer's corpus of frames, replayed by every run of the tests, and mutated at random.
#include <string>

#include <gtest/gtest.h>

#include "fuzz/frame_target.hpp"
#include "fuzz/mutator.hpp"

namespace posthorn {
namespace {

void feed(const std::string& bytes) {
    fuzz_frames(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

TEST(frame_fuzz, survives_the_committed_corpus) {
    const auto streams = read_corpus(POSTHORN_CORPUS);
    ASSERT_GE(streams.size(), 10U);
    for (const auto& bytes : streams) feed(bytes);
}

TEST(frame_fuzz, survives_random_mutations_of_it) {
    const auto streams = read_corpus(POSTHORN_CORPUS);
    mutator dice(7, std::string("\0\1\2\x20\xff\n: 09-POSTrf/", 19));
    for (int round = 0; round < 20'000; ++round)
        feed(dice.mutate(streams[dice.below(streams.size())], streams[dice.below(streams.size())]));
}

}  // namespace
}  // namespace posthorn
