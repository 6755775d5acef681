#include "message/metadata.hpp"

#include <algorithm>

#include <posthorn/json/constant.hpp>
#include <posthorn/json/writer.hpp>

#include "message/json_check.hpp"

namespace posthorn {

std::string render_metadata(const service_metadata& of) {
    std::string text;
    json_writer to(text);
    to.open('{');
    to.plain_key("metadata");
    to.natural(1);
    to.plain_key("service");
    to.string(of.service);
    to.plain_key("version");
    to.string(of.version);
    to.plain_key("interfaces");
    to.open('[');
    for (const auto contract : of.contracts) {
        to.element();
        text += contract;
    }
    to.close(']');
    to.plain_key("endpoints");
    to.open('[');
    for (const auto& endpoint : of.endpoints) {
        to.element();
        to.string(endpoint);
    }
    to.close(']');
    to.close('}');
    return text;
}

std::vector<std::string> find_contracts(std::string_view program) {
    std::vector<std::string> found;
    const auto begin = detail::contract_begin;
    for (auto at = program.find(begin); at != program.npos; at = program.find(begin, at)) {
        at += begin.size();
        const auto end = program.find(detail::contract_end, at);
        if (end == program.npos) break;
        // The name alone stands in whatever looks for it, too.
        std::string text(program.substr(at, end - at));
        if (text.starts_with('{') && check_json(text) &&
            std::ranges::find(found, text) == found.end())
            found.push_back(std::move(text));
    }
    return found;
}

}  // namespace posthorn
