#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/uuid.hpp>

#include "base/async/virtual_time.hpp"
#include "transport/transport.hpp"

namespace posthorn::sim {

/// FNV-1a; continues from `hash`.
[[nodiscard]] std::uint64_t hash_text(std::uint64_t hash, std::string_view text);
inline constexpr std::uint64_t hash_start = 0xcbf29ce484222325U;

/// A row of the chain that a service keeps in its business table: each hash covers all before it.
struct chain_link {
    std::int64_t number = 0;
    std::uint64_t hash = hash_start;
    bool operator==(const chain_link&) const = default;
};

/// What the world outside of the services knows: what it was promised and what it saw, which no
/// crash takes away. In the end the databases are held against it.
///
/// Lifetime: outlives the world's processes.
/// Threads:  one.
class ledger {
public:
    explicit ledger(const virtual_time& time) : time_(time) {}

    /// Adds to the history; with an id also to the trace of that message.
    void note(std::string_view text);
    void note(const uuid& id, std::string_view text);
    [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
    [[nodiscard]] std::string trace(const uuid& id) const;
    void keep_log(bool on) { keeps_log_ = on; }
    [[nodiscard]] const std::string& log() const noexcept { return log_; }

    /// The sender was told that its transaction is on disk, or that it certainly is not.
    void promised(const std::string& service, const chain_link& link,
                  const std::vector<uuid>& sent);
    void refused(const std::vector<uuid>& sent);
    /// A person is about to requeue a message that was given up, or to close it.
    void touched(const uuid& id, std::string_view how);
    /// An external handler ran.
    void ran_outside(const uuid& id) { ++connector_[id]; }
    /// An answer left the receiver.
    void answered(const message& what, const delivery& answer);
    /// What a living sender made of an attempt; `counts` if it may still record outcomes.
    void believed(const message& what, const delivery& answer, bool counts);

    /// A service's database was replaced by an older one. What it committed since is gone, and with
    /// it what was promised; nothing else is.
    struct restoration {
        std::string service;
        std::set<uuid> forgotten;       // Messages that it had sent, or was to send.
        std::set<uuid> remembered;      // Of others, that it had processed.
        std::int64_t chain_length = 0;  // Which is still there.
    };
    void restored(const restoration& what);

    void violate(std::string what, const uuid& about = {});

    struct promise {
        std::string service;
        uuid id;
    };
    [[nodiscard]] const std::vector<promise>& promises() const { return promises_; }
    [[nodiscard]] const std::map<std::string, std::vector<chain_link>>& links() const {
        return links_;
    }
    [[nodiscard]] const std::set<uuid>& refusals() const { return refusals_; }
    [[nodiscard]] const std::set<uuid>& touches() const { return touches_; }
    [[nodiscard]] const std::map<uuid, int>& outside() const { return connector_; }
    [[nodiscard]] const std::map<uuid, std::string>& responses() const { return responses_; }
    [[nodiscard]] bool was_forgotten(const uuid& id) const { return forgotten_.contains(id); }
    [[nodiscard]] bool was_restored(const std::string& service) const {
        return restored_.contains(service);
    }
    [[nodiscard]] bool was_acknowledged(const uuid& id) const { return given_.contains(id); }
    struct attempts {
        int failed = 0;   // That may be charged.
        int in_vain = 0;  // By nodes whose time was over, so that nothing may be recorded.
        bool acked = false;
    };
    [[nodiscard]] const std::map<uuid, attempts>& tries() const { return tries_; }
    [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
    [[nodiscard]] const std::set<uuid>& concerned() const { return concerned_; }

private:
    std::string stamp() const;

    const virtual_time& time_;
    std::uint64_t hash_ = hash_start;
    bool keeps_log_ = false;
    std::string log_;
    std::map<uuid, std::string> traces_;
    std::vector<promise> promises_;
    std::map<std::string, std::vector<chain_link>> links_;
    std::set<uuid> refusals_;
    std::set<uuid> touches_;
    std::map<uuid, int> connector_;
    std::map<uuid, std::string> responses_;  // The first that said delivered.
    std::map<uuid, std::string> answered_by_;
    std::set<uuid> forgotten_;
    std::set<std::string> restored_;
    std::map<uuid, std::set<std::uint64_t>> given_;  // Every answer ever given, hashed.
    std::map<uuid, attempts> tries_;
    std::vector<std::string> violations_;
    std::set<uuid> concerned_;
};

}  // namespace posthorn::sim
