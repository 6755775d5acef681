#include "support/fault_disk/directory.hpp"

namespace posthorn::faults {
namespace {

std::string_view folder_of(std::string_view path) { return path.substr(0, path.rfind('/')); }

directory::file_ptr lookup(const std::map<std::string, directory::file_ptr>& names,
                           const std::string& path) {
    const auto found = names.find(path);
    return found == names.end() ? nullptr : found->second;
}

}  // namespace

directory::file_ptr directory::find(const std::string& path) const { return lookup(now_, path); }

directory::file_ptr directory::find_durable(const std::string& path) const {
    return lookup(durable_, path);
}

directory::file_ptr directory::create(const std::string& path) {
    auto file = std::make_shared<disk_file>();
    now_[path] = file;
    pending_[path].push_back(file);
    return file;
}

void directory::remove(const std::string& path) {
    now_.erase(path);
    pending_[path].push_back(nullptr);
}

void directory::rename(const std::string& from, const std::string& to) {
    auto file = find(from);
    remove(from);
    now_[to] = file;
    pending_[to].push_back(std::move(file));
}

bool directory::is_new(const std::string& path, const file_ptr& file) const {
    return find(path) == file && find_durable(path) != file;
}

void directory::sync(const std::string& path_inside) {
    const auto folder = folder_of(path_inside);
    std::erase_if(pending_, [&](const auto& entry) {
        const auto& path = entry.first;
        if (folder_of(path) != folder) return false;
        if (auto file = find(path)) {
            durable_[path] = std::move(file);
        } else {
            durable_.erase(path);
        }
        return true;
    });
}

void directory::lose_power(dice& chance, const cut_mood& mood) {
    for (const auto& [path, history] : pending_) {
        std::size_t kept = 0;
        if (mood.what == cut_mood::kind::keeps_all) kept = history.size();
        if (mood.what == cut_mood::kind::mixes) kept = chance.below(history.size() + 1);
        if (kept == 0) continue;
        if (history[kept - 1]) {
            durable_[path] = history[kept - 1];
        } else {
            durable_.erase(path);
        }
    }
    pending_.clear();
    for (const auto& [path, file] : durable_) file->lose_power(chance, mood);
    now_ = durable_;
}

std::uint64_t directory::bytes_used() const {
    std::uint64_t total = 0;
    for (const auto& [path, file] : now_) total += file->size();
    return total;
}

directory directory::durable_copy() const {
    directory copy;
    for (const auto& [path, file] : durable_) copy.durable_[path] = file->durable_copy();
    copy.now_ = copy.durable_;
    return copy;
}

}  // namespace posthorn::faults
