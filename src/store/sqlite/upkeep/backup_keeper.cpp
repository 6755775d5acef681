#include "store/sqlite/upkeep/backup_keeper.hpp"

#include <algorithm>
#include <tuple>

#include "base/async/run_on.hpp"
#include "store/sqlite/driver/backup_files.hpp"
#include "store/sqlite/upkeep/backup.hpp"

namespace posthorn::sqlite {
namespace {

constexpr std::chrono::milliseconds again_after_failure = std::chrono::minutes{5};

}  // namespace

task<> backup_keeper::run() {
    std::ignore = clocks_.jumped();  // From now on it is watched.
    const auto newest = co_await run_on(with_.thread, [this] { return newest_in_folder(); });
    auto wait = backup_delay(newest, with_.time.wall(), plan_.every);
    while (co_await with_.sleeper.sleep_for(wait) && !stopping_) {
        const bool made = co_await run_on(with_.thread, [this] { return back_up(); });
        wait = made ? plan_.every : std::min(plan_.every, again_after_failure);
    }
}

std::optional<wall_time> backup_keeper::newest_in_folder() {
    const auto found = list_backups(plan_.folder, source_.database);
    if (!found || found->empty()) return std::nullopt;
    const std::scoped_lock lock(mutex_);
    state_.newest = found->back().taken_at;
    state_.bytes = found->back().bytes;
    return state_.newest;
}

bool backup_keeper::back_up() {
    const auto begun = with_.time.steady();
    const auto made =
        back_up_into(plan_.folder,
                     {.database = source_.database,
                      .service = source_.service,
                      .cancelled = &stopping_,
                      .rest = [this](std::chrono::nanoseconds time) { with_.thread.rest(time); }},
                     with_.time);
    if (!made && stopping_) return false;
    {
        const std::scoped_lock lock(mutex_);
        state_.last_error = made ? "" : made.error().what();
        if (made) {
            ++state_.made;
            state_.newest = made->facts.taken_at;
            state_.bytes = made->facts.bytes;
            state_.took =
                std::chrono::duration_cast<std::chrono::milliseconds>(with_.time.steady() - begun);
        } else {
            ++state_.failed;
        }
    }
    if (!made) {
        with_.log.error("Backup: failed, will try again: {Error}",
                        {{"Error", made.error().what()}});
        return false;
    }
    with_.log.info("Backup: {File} is made and verified", {{"File", made->file.string()}});
    remove_old();
    return true;
}

void backup_keeper::remove_old() {
    if (clocks_.jumped()) return;
    auto found = list_backups(plan_.folder, source_.database);
    if (!found) return;
    for (const auto& old : outdated_backups(*std::move(found), with_.time.wall(), plan_.keep)) {
        std::error_code failure;
        std::filesystem::remove(old.path, failure);
        if (failure)
            with_.log.warn("Backup: {File} is old and cannot be removed: {Error}",
                           {{"File", old.path.string()}, {"Error", failure.message()}});
    }
}

backup_state backup_keeper::state() const {
    const std::scoped_lock lock(mutex_);
    return state_;
}

}  // namespace posthorn::sqlite
