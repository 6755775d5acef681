#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "store/schema_differences.hpp"

namespace posthorn {

/// A table or a column that is gone with what it held.
struct lost_data {
    std::string what;
    std::string todo;  // Of a person.
};

/// How a database differs from what the steps make, and what there is to do about it. An `Object`
/// can be made again; it has a `name`.
template <class Object>
struct schema_repairs {
    std::vector<lost_data> lost{};
    std::vector<Object> dropped{};
    std::vector<Object> changed{};
    std::vector<std::string> foreign{};

    [[nodiscard]] bool are_needed() const { return !dropped.empty() || !changed.empty(); }
    [[nodiscard]] schema_differences in_words() const {
        schema_differences said{.foreign = foreign};
        for (const auto& one : lost) said.lost.push_back(one.what);
        for (const auto& one : dropped) said.dropped.push_back(one.name);
        for (const auto& one : changed) said.changed.push_back(one.name);
        return said;
    }
};

/// A person has to know that data are lost. `from` says from where, if that is not plain.
[[nodiscard]] result<> require_data(std::span<const lost_data> lost, std::string_view from);

/// Makes again what can be, in one transaction, and says what that was. `look` gives the repairs,
/// `make` makes them, and `run` runs the statements of the transaction.
template <class Look, class Make, class Run>
result<schema_differences> mend(std::string_view from, const std::string& begin, Look look,
                                Make make, Run run) {
    {
        POSTHORN_LET(seen, look());
        POSTHORN_TRY(require_data(seen.lost, from));
        if (!seen.are_needed()) return seen.in_words();
    }
    POSTHORN_TRY(run(begin));
    auto made = [&]() -> result<schema_differences> {  // Another node may have been quicker.
        POSTHORN_LET(now, look());
        POSTHORN_TRY(make(now));
        return now.in_words();
    }();
    const auto ended = run(made ? "COMMIT" : "ROLLBACK");
    if (made && !ended) return std::unexpected(ended.error());
    return made;  // With an error the session ends anyway.
}

}  // namespace posthorn
