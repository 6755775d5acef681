#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "store/migration.hpp"
#include "store/row_defaults.hpp"
#include "store/store.hpp"

namespace posthorn::conformance {

/// Somebody else's connection to the same database, as another process would have it: no code of
/// Posthorn's is between it and the database.
///
/// Lifetime: closed before its storage goes, and before the power is cut for good.
/// Threads:  one at a time.
class foreign_connection {
public:
    using row = std::vector<std::optional<std::string>>;

    virtual ~foreign_connection() = default;

    /// What the database said against it; empty if it did as told.
    virtual std::optional<std::string> run(std::string_view sql) = 0;
    /// Reports a failure to the test if the query fails.
    virtual std::vector<row> rows(std::string_view sql) = 0;

    /// The first column of the first row.
    std::string text(std::string_view sql);
    std::int64_t number(std::string_view sql);
};

/// How safe a foreign connection's commits are.
enum class durability : std::uint8_t { full, none };

/// What can befall the disk under a store.
class disk_faults {
public:
    virtual ~disk_faults() = default;

    virtual void cut_power_after(std::uint64_t operations) = 0;
    virtual void cut_power() = 0;
    /// What was not synced is lost in whole, or in parts that the seed chooses.
    enum class unsynced : std::uint8_t { dropped, chosen_by_seed };
    virtual void restore_power(unsynced fate) = 0;
    [[nodiscard]] virtual bool powered() const = 0;
    /// Writes, truncations, syncs and deletions so far.
    [[nodiscard]] virtual std::uint64_t operations() const = 0;

    virtual void fail_next_sync() = 0;
    virtual void leave_room_for(std::uint64_t bytes) = 0;
    virtual void make_room() = 0;
    /// Damages what the store keeps, past its first page. The store is closed.
    virtual void corrupt() = 0;

    /// What a query would find if the power went at this moment and nothing unsynced survived.
    virtual std::int64_t durable_number(std::string_view sql) = 0;
};

/// Statements that every database has in some form.
struct dialect {
    /// Run in a unit, these are refused.
    std::vector<std::string> forbidden;
    /// Statements that break a key and try to take the whole transaction with them. `held` is a
    /// table with the rows 1 and 2 in its unique column `id`.
    std::vector<std::string> group_breakers;
    /// Runs until it is interrupted.
    std::string endless;
    /// A trigger of an application's that deletes messages once their status is `{}`.
    std::vector<std::string> deleting_trigger;
    /// One that lets a change of messages vanish; `{}` is INSERT, UPDATE or DELETE.
    std::vector<std::string> swallowing_trigger;
    std::string on_outbox{};  // What follows the name of a trigger that is dropped.
    /// How bytes are written; `{}` stands for their hexadecimal digits.
    std::string bytes = "x'{}'";
    /// Where a payload goes that is no text.
    std::string payload_of_bytes = "payload";
    /// Whether bytes in the place of text are refused, and not turned into text before anybody
    /// sees.
    bool refuses_bytes_as_text = true;
    /// Whether a fraction in the place of a whole number is refused, and not rounded likewise.
    bool refuses_fractions = true;
};

/// How a test wants its store.
struct store_settings {
    bool shared = false;             // Others write the database too.
    bool checkpoints_often = false;  // Whatever the database does now and then, all the time.
    std::optional<row_defaults> defaults{};  // For rows of plain SQL.
    std::vector<table_set> above{};          // Of the folders above.
};

/// One database, which can be opened, closed, and opened again.
///
/// Lifetime: outlives the stores and connections it gave.
class storage {
public:
    virtual ~storage() = default;

    /// Creates what is missing.
    virtual result<std::unique_ptr<posthorn::store>> open(store_settings settings = {}) = 0;
    virtual std::unique_ptr<foreign_connection> connect(durability how = durability::full) = 0;

    /// Returns when the writer has done all it is going to do unasked.
    virtual void wait_for_writer() = 0;
    /// The time as the database itself tells it in defaults.
    [[nodiscard]] virtual wall_time now() = 0;
    /// Marks the schema as one that a later version made. The store is closed.
    virtual void pretend_newer() = 0;
    [[nodiscard]] virtual const dialect& speaks() const = 0;
    /// Null where the disk is a real one.
    virtual disk_faults* faults() { return nullptr; }
};

/// A kind of storage that the suite runs on.
struct store_factory {
    std::string name;
    std::function<std::unique_ptr<storage>(std::uint64_t seed)> make;
};

inline void PrintTo(const store_factory& factory, std::ostream* out) { *out << factory.name; }

}  // namespace posthorn::conformance
