#include <array>
#include <filesystem>
#include <ostream>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "app/cli/kit/command.hpp"
#include "app/cli/kit/database.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"

namespace posthorn::cli {
namespace {

class config_show_command final : public command {
public:
    void declare(CLI::App& options) override {
        options
            .add_option("-c,--config", file_,
                        "the configuration (posthorn.toml, if it is here; else the defaults)")
            ->type_name("FILE");
        add_json_flag(options, json_);
        options.footer("Example: posthorn config show --config orders.toml");
    }

    result<> run(const console& terminal) override {
        std::error_code unusable;
        if (file_.empty() && std::filesystem::exists(config_file_default, unusable))
            file_ = config_file_default;
        POSTHORN_LET(settings, file_.empty() ? result<config>(config{}) : load_config(file_));
        const auto entries = list_config(settings);
        if (json_) {
            boost::json::array list;
            for (const auto& each : entries)
                list.push_back(boost::json::object{{"key", each.key},
                                                   {"value", each.value},
                                                   {"type", each.type},
                                                   {"origin", each.origin},
                                                   {"note", each.note},
                                                   {"doc", each.doc}});
            print_json(terminal, list);
            return {};
        }
        text_table table({"KEY", "VALUE", "FROM"});
        for (const auto& each : entries)
            table.add({to_cell(each.key), to_cell(each.value), to_cell(each.origin)});
        terminal.out << table.to_text();
        for (const auto& each : entries)
            if (!each.note.empty()) terminal.out << '\n' << each.key << ": " << each.note << '\n';
        return {};
    }

private:
    std::string file_;
    bool json_ = false;
};

std::unique_ptr<command> make_config_show_command() {
    return std::make_unique<config_show_command>();
}

constexpr std::array members{
    command_entry{"show", "print every key, its value and where it came from",
                  make_config_show_command},
};

}  // namespace

std::unique_ptr<command> make_config_command() { return std::make_unique<command_group>(members); }

}  // namespace posthorn::cli
