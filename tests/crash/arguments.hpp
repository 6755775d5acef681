#pragma once

#include <map>
#include <string>
#include <string_view>

namespace posthorn::crash {

/// `NAME=VALUE…`, as the workers are told what to do.
class arguments {
public:
    /// From the word numbered `first` on.
    arguments(int count, char** words, int first) {
        for (int i = first; i < count; ++i) {
            const std::string_view one = words[i];
            const auto equals = one.find('=');
            given_[std::string(one.substr(0, equals))] = one.substr(equals + 1);
        }
    }
    [[nodiscard]] std::string text(const std::string& name, std::string_view otherwise = {}) const {
        const auto found = given_.find(name);
        return found == given_.end() ? std::string(otherwise) : found->second;
    }
    [[nodiscard]] int number(const std::string& name, int otherwise) const {
        return std::stoi(text(name, std::to_string(otherwise)));
    }

private:
    std::map<std::string, std::string> given_;
};

}  // namespace posthorn::crash
