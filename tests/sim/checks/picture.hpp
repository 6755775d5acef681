#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/checks/ledger.hpp"

namespace posthorn::sim {

struct outgoing {
    std::string destination, endpoint, status, cause, tenant, order_key;
    bool is_for_workflow = false;  // A Response or a signal, whose effect is a step.
    std::int64_t seq = 0, charged = 0, expires_at = 0;
};

struct effect {
    std::string source, sent;
    std::int64_t place = 0;  // In the order of commits.
    std::int64_t expires_at = 0;
};

/// All of one service's database that matters in the end.
struct picture {
    std::map<uuid, outgoing> outbox;
    std::map<uuid, std::string> responses;  // Of what was processed.
    std::multimap<uuid, effect> effects;
    std::vector<chain_link> chain;
    bool lets_pass = false;   // Followers of an order key, when one was given up.
    std::int64_t latest = 0;  // That its clock ever showed, in milliseconds.
};

using pictures = std::map<std::string, picture>;

[[nodiscard]] uuid id_of(const std::string& text);

/// One row of an answer, whichever database gave it. NULL is empty, or zero.
class answer_row {
public:
    virtual ~answer_row() = default;
    [[nodiscard]] virtual std::string text(int column) const = 0;
    [[nodiscard]] virtual std::int64_t number(int column) const = 0;
};

/// Asks a service's database with plain SQL, nothing of Posthorn's between. Throws if it cannot.
using question = std::function<void(const std::string& sql,
                                    const std::function<void(const answer_row&)>& visit)>;

/// Also looks for breaks in the chain and for canaries in what is kept of errors. The tables
/// `chain` and `effects` are the service's own.
[[nodiscard]] picture read_picture(const std::string& service, const question& ask, ledger& book);

}  // namespace posthorn::sim
