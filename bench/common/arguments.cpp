#include "common/arguments.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

namespace posthorn::bench {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw std::invalid_argument(why); }

double number_of(const std::string& name, const std::string& text) {
    std::size_t used = 0;
    const auto value = std::stod(text, &used);
    if (used != text.size() || value <= 0) refuse(name + " wants a number above zero");
    return value;
}

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream from(text);
    for (std::string part; std::getline(from, part, at);) parts.push_back(part);
    return parts;
}

}  // namespace

arguments parse_arguments(int count, char** words,
                          std::initializer_list<std::string_view> transports) {
    arguments given{.transport = std::string(*transports.begin())};
    given.load.warm_up_seconds = 0;
    const std::map<std::string, std::function<void(const std::string&)>, std::less<>> options{
        {"--transport", [&](const std::string& value) { given.transport = value; }},
        {"--mode",
         [&](const std::string& value) {
             const auto mode = measure::parse_load_mode(value);
             if (!mode) refuse("--mode is concurrent, serial or rate");
             given.load.mode = *mode;
         }},
        {"--senders",
         [&](const std::string& value) {
             given.load.senders = static_cast<int>(number_of("--senders", value));
         }},
        {"--seconds",
         [&](const std::string& value) { given.load.seconds = number_of("--seconds", value); }},
        {"--plan", [&](const std::string& value) { given.plan = value; }},
        {"--warm-up",
         [&](const std::string& value) {
             given.load.warm_up_seconds = number_of("--warm-up", value);
         }},
        {"--rate", [&](const std::string& value) { given.load.rate = number_of("--rate", value); }},
        {"--queue", [&](const std::string& value) { given.queue = value; }},
        {"--folder", [&](const std::string& value) { given.folder = value; }},
    };
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        if (word == "--json") {
            given.json = true;
        } else if (word == "--bare") {
            given.bare = true;
        } else if (word == "--plain") {
            given.plain = true;
        } else if (word == "--chained") {
            given.load.chained = true;
        } else if (const auto found = options.find(word); found != options.end() && i + 1 < count) {
            found->second(words[++i]);
        } else {
            refuse("unknown, or without its value: " + word);
        }
    }
    if (given.load.warm_up_seconds == 0)
        given.load.warm_up_seconds = std::min(1.0, given.load.seconds / 4);
    if (std::ranges::find(transports, given.transport) == transports.end())
        refuse("no such transport here: " + given.transport);
    return given;
}

std::vector<arguments> loads_of(const arguments& given) {
    if (given.plan.empty()) return {given};
    std::vector<arguments> loads;
    for (const auto& item : split(given.plan, ',')) {
        auto& one = loads.emplace_back(given);
        auto words = split(item, ':');
        one.bare = words.front() == "bare";
        one.plain = words.front() == "plain";
        if (one.bare || one.plain) words.erase(words.begin());
        if (words.empty() || words.size() > 2) refuse("not a load: " + item);
        one.load.chained = words.front() == "chained";
        const auto mode = measure::parse_load_mode(one.load.chained ? "concurrent" : words.front());
        if (!mode) refuse("not a load: " + item);
        one.load.mode = *mode;
        if (words.size() < 2) continue;
        const auto number = number_of(item, words.back());
        if (*mode == measure::load_mode::rate)
            one.load.rate = number;
        else
            one.load.senders = static_cast<int>(number);
    }
    return loads;
}

}  // namespace posthorn::bench
