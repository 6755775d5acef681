#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>

#include "app/cli/kit/command.hpp"
#include "app/cli/kit/database.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"
#include "app/rounds/drain.hpp"
#include "base/text/counted.hpp"

namespace posthorn::cli {
namespace {

class drain_command final : public command {
public:
    void declare(CLI::App& options) override {
        chosen_.declare(options);
        options.add_flag("--once", drain_.once, "take up one batch, and no more");
        options.add_option("--batch", drain_.batch, "messages in a batch, at most (50)")
            ->type_name("N")
            ->check(CLI::Range(1, 10'000));
        options.add_option("--for", limit_, "how long to go on, at most (25s)")
            ->type_name("DURATION");
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn drain --once --for 25s --config orders.toml\n"
            "For a timer of the system, or a function that is started for a while. Several at a "
            "time\nshare the work on PostgreSQL; a file is one's at a time.\n"
            "It ends with exit code 3 if messages are left that are due.");
    }

    result<> run(const console& terminal) override {
        if (!limit_.empty()) {
            const auto limit = parse_duration(limit_);
            if (!limit || limit->count() == 0)
                return fail(error_code::invalid_argument,
                            "--for cannot be '{}'; write a duration such as 25s", limit_);
            drain_.limit = *limit;
        }
        POSTHORN_LET(settings, chosen_.settings());
        POSTHORN_LET(done, drain(std::move(settings), drain_));
        if (done.is_more) ended_with_ = exit_code::work_left;
        if (json_) {
            print_json(terminal,
                       boost::json::object{{"processed", done.processed}, {"more", done.is_more}});
            return {};
        }
        terminal.out << fmt::format("{} processed{}\n",
                                    counted(static_cast<std::int64_t>(done.processed), "message"),
                                    done.is_more ? "; there are more that are due" : "");
        return {};
    }

    [[nodiscard]] exit_code ended_with() const noexcept override { return ended_with_; }

private:
    database_choice chosen_;
    drain_options drain_;
    std::string limit_;
    bool json_ = false;
    exit_code ended_with_ = exit_code::ok;
};

}  // namespace

std::unique_ptr<command> make_drain_command() { return std::make_unique<drain_command>(); }

}  // namespace posthorn::cli
