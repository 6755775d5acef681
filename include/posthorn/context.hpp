#pragma once

#include <posthorn/transaction.hpp>

namespace posthorn {

/// What a transactional handler works through: its writes, what it sends and the record that the
/// message was handled commit together, so the message takes effect exactly once.
///
/// What it sends names the received message as its cause, and carries on its correlation id, tenant
/// and trace unless others are given.
class context : public transaction {
public:
    [[nodiscard]] virtual const message& received() const = 0;
};

}  // namespace posthorn
