#include <ostream>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/version.hpp>

#include <posthorn/version.hpp>

#include "app/cli/kit/command.hpp"
#include "app/cli/kit/options.hpp"
#include "base/build_info.hpp"
#include "store/sqlite/driver/version.hpp"

namespace posthorn::cli {
namespace {

std::string boost_version() {
    return fmt::format("{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000,
                       BOOST_VERSION % 100);
}

class version_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_json_flag(options, json_);
        options.footer("Example: posthorn version --json");
    }

    result<> run(const console& terminal) override {
        const build_info build = this_build();
        if (json_) {
            const boost::json::object versions{{"posthorn", version},
                                               {"sqlite", sqlite_version()},
                                               {"boost", boost_version()},
                                               {"build", build.type},
                                               {"compiler", build.compiler}};
            terminal.out << boost::json::serialize(versions) << '\n';
        } else {
            terminal.out << fmt::format("posthorn {}\nSQLite {}\nBoost {}\nbuild {}, {}\n", version,
                                        sqlite_version(), boost_version(), build.type,
                                        build.compiler);
        }
        return {};
    }

private:
    bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_version_command() { return std::make_unique<version_command>(); }

}  // namespace posthorn::cli
