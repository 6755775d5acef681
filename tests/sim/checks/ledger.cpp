#include "sim/checks/ledger.hpp"

#include <utility>

#include <fmt/format.h>

namespace posthorn::sim {

std::uint64_t hash_text(std::uint64_t hash, std::string_view text) {
    for (const char c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3U;
    }
    return hash;
}

std::string ledger::stamp() const {
    const auto us =
        std::chrono::duration_cast<std::chrono::microseconds>(time_.steady().time_since_epoch());
    return fmt::format("{:>10.3f} ms  ", static_cast<double>(us.count()) / 1000);
}

void ledger::note(std::string_view text) {
    hash_ = hash_text(hash_, text);
    hash_ = hash_text(hash_, stamp());
    if (keeps_log_) log_ += stamp() + std::string(text) + '\n';
}

void ledger::note(const uuid& id, std::string_view text) {
    auto& trace = traces_[id];
    trace += stamp();
    trace += text;
    trace += '\n';
    note(id.to_string() + ' ' + std::string(text));
}

std::string ledger::trace(const uuid& id) const {
    const auto found = traces_.find(id);
    return found == traces_.end() ? "  nothing is known of it\n" : found->second;
}

void ledger::promised(const std::string& service, const chain_link& link,
                      const std::vector<uuid>& sent) {
    if (link.number > 0) links_[service].push_back(link);
    for (const auto& id : sent) {
        promises_.push_back({service, id});
        note(id, "the sender was told that it is on disk");
    }
}

void ledger::refused(const std::vector<uuid>& sent) {
    for (const auto& id : sent) {
        refusals_.insert(id);
        note(id, "the sender was told that it is not stored");
    }
}

void ledger::touched(const uuid& id, std::string_view how) {
    touches_.insert(id);
    note(id, fmt::format("a person {} it", how));
}

void ledger::answered(const message& what, const delivery& answer) {
    static constexpr std::string_view names[] = {"delivered", "transient",     "permanent",
                                                 "throttled", "undeliverable", "unanswered"};
    note(what.id,
         fmt::format("{} answers: {}{} {}{}", what.destination,
                     names[static_cast<std::size_t>(answer.what)],
                     answer.duplicate ? " (duplicate)" : "", answer.payload, answer.error));
    if (answer.what != outcome::delivered) return;
    answered_by_[what.id] = what.destination;
    given_[what.id].insert(hash_text(hash_start, answer.payload));
    const auto [first, is_first] = responses_.emplace(what.id, answer.payload);
    if (!is_first && first->second != answer.payload)
        violate(fmt::format("invariant 5: a duplicate was answered '{}', the first one '{}'",
                            answer.payload, first->second),
                what.id);
}

void ledger::believed(const message& what, const delivery& answer, bool counts) {
    auto& tried = tries_[what.id];
    if (!counts) ++tried.in_vain;
    // Only the receiver's own word about it costs a message something; one past its limit has none,
    // unless the answer comes in the same moment.
    const bool fails = answer.what == outcome::transient || answer.what == outcome::permanent;
    if (counts && fails) ++tried.failed;
    if (answer.what != outcome::delivered) return;
    tried.acked |= counts;
    const auto given = given_.find(what.id);
    if (given == given_.end() || !given->second.contains(hash_text(hash_start, answer.payload)))
        violate("invariant 1: its sender believes an answer that nobody gave", what.id);
}

void ledger::restored(const restoration& what) {
    note(fmt::format("{} is restored: {} messages forgotten, {} remembered, {} links", what.service,
                     what.forgotten.size(), what.remembered.size(), what.chain_length));
    restored_.insert(what.service);
    forgotten_.insert(what.forgotten.begin(), what.forgotten.end());
    std::erase_if(promises_, [&](const promise& one) {
        return one.service == what.service && what.forgotten.contains(one.id);
    });
    std::erase_if(links_[what.service],
                  [&](const chain_link& one) { return one.number > what.chain_length; });
    // What it had answered and does not know any more takes effect anew, with another response.
    std::erase_if(responses_, [&](const auto& one) {
        return answered_by_.at(one.first) == what.service && !what.remembered.contains(one.first);
    });
}

void ledger::violate(std::string what, const uuid& about) {
    if (!about.is_nil()) {
        concerned_.insert(about);
        what = about.to_string() + ": " + what;
    }
    violations_.push_back(std::move(what));
}

}  // namespace posthorn::sim
