#pragma once

#include <utility>

#include "store/transaction.hpp"

namespace posthorn {

/// A write transaction with the tables of one store on its connection. `Tables` are its
/// `unit_tables`.
///
/// Lifetime: as the writer's connection; idle between units.
/// Threads:  the writer's.
template <class Tables>
class table_transaction : public store_transaction {
public:
    decltype(Tables::outbox)& outbox() override { return tables_.outbox; }
    decltype(Tables::inbox)& inbox() override { return tables_.inbox; }
    decltype(Tables::leases)& leases() override { return tables_.leases; }
    decltype(Tables::dead_letters)& dead_letters() override { return tables_.dead_letters; }
    decltype(Tables::old)& old() override { return tables_.old; }
    void announce() override { announced_ = true; }
    [[nodiscard]] bool take_announced() noexcept { return std::exchange(announced_, false); }
    [[nodiscard]] decltype(Tables::keys)& keys() noexcept { return tables_.keys; }
    [[nodiscard]] decltype(Tables::changes)& log() noexcept { return tables_.changes; }

protected:
    /// With what `Tables` are made of.
    template <class... Args>
    explicit table_transaction(Args&&... args) : tables_(std::forward<Args>(args)...) {}

    [[nodiscard]] Tables& tables() noexcept { return tables_; }

private:
    Tables tables_;
    bool announced_ = false;
};

}  // namespace posthorn
