#include <algorithm>
#include <ostream>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "app/cli/kit/command.hpp"
#include "app/cli/kit/database.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"
#include "app/doctor/doctor_facts.hpp"
#include "app/doctor/feature_findings.hpp"

namespace posthorn::cli {
namespace {

namespace json = boost::json;

class doctor_command final : public command {
public:
    void declare(CLI::App& options) override {
        where_.declare(options);
        options.add_flag("--full", full_, "look at every page and index, which takes longer");
        options.add_flag("--strict", strict_, "exit with 1 for warnings too");
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn doctor --config orders.toml\n"
            "A node may run or not; nothing is changed. Exits with 0 if nothing is bad, 1 if "
            "something\nis, 2 if the configuration is wrong.");
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(settings, where_.settings());
        worker_threads thread("posthorn-doctor");
        const auto facts =
            gather_facts(settings,
                         {.full = full_,
                          .config_file = config_file(),
                          .rest = [&](std::chrono::nanoseconds time) { thread.rest(time); }},
                         clock_);
        json::array list;
        auto worst = finding_level::ok;
        const auto tell = [&](std::string_view check, const finding& found) {
            worst = std::max(worst, found.level);
            if (json_)
                list.push_back(json::object{{"check", check},
                                            {"level", to_string(found.level)},
                                            {"what", found.what},
                                            {"why", found.why},
                                            {"todo", found.todo}});
            else
                print(check, found, terminal);
        };
        for (const auto& check : doctor_checks()) tell(check.name, check.look(facts));
        for (const auto& [name, found] : feature_findings(settings, clock_)) tell(name, found);
        if (json_)
            print_json(terminal, json::object{{"status", to_string(worst)}, {"findings", list}});
        return judge(worst);
    }

private:
    [[nodiscard]] std::string config_file() const {
        if (!where_.config_file.empty()) return where_.config_file;
        return where_.database.empty() ? config_file_default : "";
    }

    static void print(std::string_view check, const finding& found, const console& terminal) {
        print_beside(fmt::format("{:<5} {:<16} ", to_string(found.level), check), found.what,
                     terminal);
        if (found.level == finding_level::ok) return;
        print_beside(fmt::format("{:22} why: ", ""), found.why, terminal);
        print_beside(fmt::format("{:22} do:  ", ""), found.todo, terminal);
    }

    /// Several things are lines of their own, and lines that a terminal would break are broken
    /// between words; all of them stand beside what is in front of the first.
    static void print_beside(std::string front, std::string_view text, const console& terminal) {
        constexpr std::size_t text_columns_min = 30;
        const auto columns = terminal.columns == 0
                                 ? any_length
                                 : std::max(terminal.columns, front.size() + text_columns_min);
        for (const auto& line : wrapped(to_shown(text), columns - front.size())) {
            terminal.out << front << line << '\n';
            front.assign(front.size(), ' ');
        }
    }

    [[nodiscard]] result<> judge(finding_level worst) const {
        if (worst == finding_level::bad)
            return fail(error_code::store_failed, "something is bad; see above what to do");
        if (worst == finding_level::warn && strict_)
            return fail(error_code::store_failed, "something is weak; see above what to do");
        return {};
    }

    real_clock clock_;
    database_choice where_;
    bool full_ = false;
    bool strict_ = false;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_doctor_command() { return std::make_unique<doctor_command>(); }

}  // namespace posthorn::cli
