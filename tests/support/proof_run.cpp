#include "support/proof_run.hpp"

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace posthorn::test {
namespace {

using namespace std::chrono_literals;

constexpr auto report_interval = 200ms;

// What is not a number throws: a harness that silently does less proves less.
std::optional<std::uint64_t> number_in_environment(const char* name) {
    const char* const text = std::getenv(name);
    if (text == nullptr) return std::nullopt;
    const std::string_view all(text);
    std::uint64_t number = 0;
    const auto [end, failure] = std::from_chars(all.begin(), all.end(), number);
    if (failure != std::errc() || end != all.end())
        throw std::invalid_argument(std::string(name) + " is no number: " + text);
    return number;
}

}  // namespace

proof_run::proof_run(std::string harness, size small) : harness_(std::move(harness)), size_(small) {
    if (const auto rounds = number_in_environment("POSTHORN_PROOF_ROUNDS")) size_.rounds = *rounds;
    if (const auto seconds = number_in_environment("POSTHORN_PROOF_SECONDS"))
        size_.limit = std::chrono::seconds(*seconds);
    if (const auto seed = number_in_environment("POSTHORN_PROOF_SEED")) size_.first_seed = *seed;
    if (const char* const file = std::getenv("POSTHORN_PROOF_REPORT")) file_ = file;
}

proof_run::~proof_run() { report(true); }

bool proof_run::goes_on() const {
    if (done_ == 0) return true;
    const auto passed = std::chrono::floor<std::chrono::seconds>(steady::now() - begun_);
    return done_ < size_.rounds && passed < size_.limit;
}

void proof_run::advance(std::uint64_t rounds) {
    done_ += rounds;
    if (steady::now() - reported_ >= report_interval) report(false);
}

void proof_run::report(bool ended) {
    if (file_.empty()) return;
    reported_ = steady::now();
    const std::chrono::duration<double> took = reported_ - begun_;
    std::string counts;
    for (const auto& [what, number] : counts_)
        counts += (counts.empty() ? "\"" : ",\"") + what + "\":" + std::to_string(number);
    std::ofstream(file_, std::ios::app)
        << "{\"harness\":\"" + harness_ + "\",\"done\":" + std::to_string(done_) +
               ",\"rounds\":" + std::to_string(size_.rounds) +
               ",\"seconds\":" + std::to_string(took.count()) +
               ",\"ended\":" + (ended ? "true" : "false") + ",\"counts\":{" + counts + "}}\n";
}

}  // namespace posthorn::test
