#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace posthorn::test {

/// The statement of the page on queues with which a worker takes jobs, from its first words to the
/// end of the statement, with the worker's name and the time filled in.
inline std::string taking_sql(std::string_view source_folder, std::string_view first_words,
                              std::string_view owner, std::int64_t now) {
    std::ifstream file(std::string(source_folder) + "/docs/concepts/queues.md");
    const std::string page(std::istreambuf_iterator<char>(file), {});
    const auto begin = page.find(first_words);
    if (begin == page.npos) throw std::runtime_error("the page on queues has no such statement");
    auto sql = page.substr(begin, page.find(';', begin) - begin);
    const auto fill = [&](std::string_view name, const std::string& value) {
        for (auto at = sql.find(name); at != sql.npos; at = sql.find(name, at + value.size()))
            sql.replace(at, name.size(), value);
    };
    fill(":owner", "'" + std::string(owner) + "'");
    fill(":now", std::to_string(now));
    return sql;
}

}  // namespace posthorn::test
