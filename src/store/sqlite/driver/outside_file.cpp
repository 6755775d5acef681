#include "store/sqlite/driver/outside_file.hpp"

#include <mutex>
#include <optional>
#include <utility>

#include "store/sqlite/driver/connection.hpp"

namespace posthorn::sqlite {
namespace {

class file_outside final : public outside_database {
public:
    explicit file_outside(std::string path) : path_(std::move(path)) {}

    result<> run(std::span<const outside_statement> all, const std::string& once_key) override {
        const std::scoped_lock lock(mutex_);
        if (!open_) {
            POSTHORN_LET(opened, connection::open({.path = path_}));
            open_.emplace(std::move(opened));
            POSTHORN_TRY(open_->execute("PRAGMA synchronous = FULL"));
        }
        POSTHORN_TRY(open_->execute("BEGIN IMMEDIATE"));
        auto done = write(all, once_key);
        if (done) done = open_->execute("COMMIT");
        if (!done) {
            // A rollback that fails leaves a handle that is of no use.
            if (!open_->execute("ROLLBACK")) open_.reset();
        }
        return done;
    }

private:
    result<> write(std::span<const outside_statement> all, const std::string& once_key) {
        if (!once_key.empty()) {
            POSTHORN_LET(is_first, note(once_key));
            if (!is_first) return {};
        }
        for (const auto& each : all) POSTHORN_TRY(run_one(each));
        return {};
    }

    result<bool> note(const std::string& key) {
        POSTHORN_TRY(
            open_->execute("CREATE TABLE IF NOT EXISTS posthorn_forwarded (id TEXT PRIMARY KEY,"
                           " at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP) WITHOUT ROWID"));
        POSTHORN_TRY(run_one({.sql = "INSERT OR IGNORE INTO posthorn_forwarded (id) VALUES (?1)",
                              .values = {std::string_view(key)}}));
        POSTHORN_LET(changed, open_->integer("SELECT changes()"));
        return changed > 0;
    }

    result<> run_one(const outside_statement& one) {
        POSTHORN_LET(made, open_->prepare(one.sql));
        for (std::size_t i = 0; i < one.values.size(); ++i)
            made.bind(static_cast<int>(i + 1), one.values[i]);
        for (bool has_row = true; has_row;) {
            POSTHORN_LET(more, made.step());
            has_row = more;
        }
        return {};
    }

    std::string path_;
    std::mutex mutex_;
    std::optional<connection> open_;
};

}  // namespace

std::unique_ptr<outside_database> outside_file(std::string path) {
    return std::make_unique<file_outside>(std::move(path));
}

}  // namespace posthorn::sqlite
