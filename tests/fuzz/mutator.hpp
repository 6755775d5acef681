#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace posthorn {

/// The files of a folder, as texts.
inline std::vector<std::string> read_corpus(const std::filesystem::path& folder) {
    std::vector<std::string> texts;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::ifstream file(entry.path(), std::ios::binary);
        texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    std::ranges::sort(texts);  // Folders have no order of their own.
    return texts;
}

/// Changes, drops, doubles or swaps in pieces, as a fuzzer does. Inserts characters of `likely`.
class mutator {
public:
    explicit mutator(std::uint64_t seed, std::string likely = "{}[]\",:\\-0eEtfn.")
        : engine_(seed), likely_(std::move(likely)) {}

    std::string mutate(std::string text, const std::string& other) {
        for (auto left = below(5) + 1; left > 0 && !text.empty(); --left) {
            const auto at = below(text.size());
            const auto size = below(std::min<std::size_t>(text.size() - at, 16)) + 1;
            switch (below(5)) {
                case 0: text[at] = static_cast<char>(below(256)); break;
                case 1: text.erase(at, size); break;
                case 2: text.insert(at, text.substr(at, size)); break;
                case 3: text.insert(at, 1, likely_[below(likely_.size())]); break;
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
    std::string likely_;
};

}  // namespace posthorn
