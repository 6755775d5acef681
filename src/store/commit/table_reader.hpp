#pragma once

#include <memory>
#include <utility>

#include "store/rows/outbox_rows.hpp"
#include "store/rules/dead_letter_pages.hpp"
#include "store/rules/inbox_looks.hpp"
#include "store/store.hpp"

namespace posthorn {

/// A reading connection with the tables of one store on it. The store has a function
/// `inspection_on` beside its connection.
///
/// Threads: one at a time.
template <class Driver, class Outbox>
class table_reader : public store_reader {
public:
    using connection_type = typename Driver::connection;

    Outbox& outbox() override { return outbox_; }
    inbox_looks<Driver>& inbox() override { return inbox_; }
    store_inspector& inspect() override { return *inspection_; }
    dead_letter_pages<Driver>& dead_letters() override { return dead_letters_; }

protected:
    table_reader(std::unique_ptr<connection_type> database, const outbox_rules& rules)
        : database_(std::move(database)),
          outbox_(*database_, rules),
          inbox_(*database_),
          inspection_(inspection_on(*database_)),
          dead_letters_(*database_) {}

    [[nodiscard]] connection_type& database() const noexcept { return *database_; }

private:
    std::unique_ptr<connection_type> database_;
    Outbox outbox_;
    inbox_looks<Driver> inbox_;
    std::unique_ptr<store_inspector> inspection_;
    dead_letter_pages<Driver> dead_letters_;
};

}  // namespace posthorn
