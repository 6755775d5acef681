#include "chaos/stamps.hpp"

#include <charconv>

#include <fmt/format.h>

namespace posthorn::chaos {
namespace {

constexpr std::string_view begin = R"({"stamp":")";
constexpr std::string_view end = R"("})";
constexpr std::size_t stamp_bytes_max = 80;
constexpr std::string_view empty_duplicate = R"("duplicateDetected":true,"payload":null)";

}  // namespace

std::string make_stamp(std::int64_t message, std::uint64_t run) {
    return fmt::format("{}{}/{}{}", begin, message, run, end);
}

void stamps::read(std::string& tail, std::string_view bytes) {
    tail += bytes;
    if (tail.contains(empty_duplicate)) miss();
    for (;;) {
        const auto from = tail.find(begin);
        if (from == std::string::npos) break;
        const auto to = tail.find(end, from + begin.size());
        if (to == std::string::npos) {
            tail.erase(0, from);
            if (tail.size() > stamp_bytes_max) tail.erase(0, 1);  // None after all.
            return;
        }
        note(std::string_view(tail).substr(from, to + end.size() - from));
        tail.erase(0, to + end.size());
    }
    constexpr auto kept = empty_duplicate.size() - 1;  // It is longer than the other.
    if (tail.size() > kept) tail.erase(0, tail.size() - kept);
}

void stamps::miss() {
    const std::scoped_lock lock(mutex_);
    differences_.emplace_back("a duplicate was answered without what was answered before");
}

void stamps::note(std::string_view stamp) {
    std::int64_t message = 0;
    std::from_chars(stamp.data() + begin.size(), stamp.data() + stamp.size(), message);
    const std::scoped_lock lock(mutex_);
    auto& known = seen_[message];
    if (known.times == 0) known.stamp = stamp;
    if (known.stamp != stamp)
        differences_.push_back(fmt::format("{} was answered, and before {}", stamp, known.stamp));
    ++known.times;
}

std::map<std::int64_t, stamps::seen> stamps::all() const {
    const std::scoped_lock lock(mutex_);
    return seen_;
}

std::vector<std::string> stamps::differences() const {
    const std::scoped_lock lock(mutex_);
    return differences_;
}

}  // namespace posthorn::chaos
