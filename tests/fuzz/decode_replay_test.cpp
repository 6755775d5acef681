// The fuzzer's corpus, replayed by every run of the tests, and mutated at random for a while.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fuzz/decode_target.hpp"
#include "support/random_order.hpp"

namespace posthorn {
namespace {

std::vector<std::string> corpus() {
    std::vector<std::string> texts;
    for (const auto& entry : std::filesystem::directory_iterator(POSTHORN_CORPUS)) {
        std::ifstream file(entry.path(), std::ios::binary);
        texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return texts;
}

void feed(const std::string& text) {
    fuzz_decode(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

/// Changes, drops, doubles or swaps in pieces, as a fuzzer does.
class mutator {
public:
    explicit mutator(std::uint64_t seed) : engine_(seed) {}

    std::string mutate(std::string text, const std::string& other) {
        for (auto left = below(5) + 1; left > 0 && !text.empty(); --left) {
            const auto at = below(text.size());
            const auto size = below(std::min<std::size_t>(text.size() - at, 16)) + 1;
            switch (below(5)) {
                case 0: text[at] = static_cast<char>(below(256)); break;
                case 1: text.erase(at, size); break;
                case 2: text.insert(at, text.substr(at, size)); break;
                case 3: text.insert(at, 1, "{}[]\",:\\-0eEtfn."[below(16)]); break;
                default:
                    if (!other.empty())
                        text.replace(at, size, other.substr(below(other.size()), 16));
            }
        }
        return text;
    }
    std::size_t below(std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(engine_);
    }

private:
    std::mt19937_64 engine_;
};

TEST(decode_fuzz, survives_the_committed_corpus) {
    const auto texts = corpus();
    ASSERT_GE(texts.size(), 10U);
    for (const auto& text : texts) feed(text);
}

TEST(decode_fuzz, survives_random_mutations_of_it) {
    auto texts = corpus();
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        texts.push_back(encode(shop::random_order(seed).make()));
    mutator dice(7);
    for (int round = 0; round < 4'000; ++round)
        feed(dice.mutate(texts[dice.below(texts.size())], texts[dice.below(texts.size())]));
}

}  // namespace
}  // namespace posthorn
