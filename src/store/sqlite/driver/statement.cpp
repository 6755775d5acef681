#include "store/sqlite/driver/statement.hpp"

#include <sqlite3.h>

namespace posthorn::sqlite {

result<const prepared*> rows::next() {
    if (std::exchange(ahead_, false) || at_ == nullptr) return at_;
    auto stepped = at_->step();
    if (stepped && *stepped) return at_;
    std::exchange(at_, nullptr)->reset();
    if (!stepped) return std::unexpected(std::move(stepped).error());
    return nullptr;
}

std::vector<std::string_view>*& statement::made_here() noexcept {
    thread_local std::vector<std::string_view>* texts = nullptr;
    return texts;
}

result<> statement::prepare() {
    POSTHORN_LET(made, prepared::make(on_, sql_, meant_));
    prepared_ = std::move(made);
    return {};
}

result<rows> statement::begin() {
    auto stepped = prepared_.step();
    if (stepped && *stepped) return rows(prepared_);
    const auto changed = sqlite3_changes64(on_);
    prepared_.reset();
    if (!stepped) return std::unexpected(std::move(stepped).error());
    return rows(changed);
}

bool statement::hit_a_unique_key() const noexcept {
    return sqlite3_extended_errcode(on_) == SQLITE_CONSTRAINT_UNIQUE;
}

std::int64_t statement::inserted() const noexcept { return sqlite3_last_insert_rowid(on_); }

}  // namespace posthorn::sqlite
