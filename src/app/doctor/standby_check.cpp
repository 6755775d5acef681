#include <fmt/format.h>

#include "app/doctor/doctor.hpp"

namespace posthorn {
namespace {

finding good(std::string what) { return {finding_level::ok, std::move(what)}; }

}  // namespace

finding check_standby(const doctor_facts& facts) {
    if (!facts.standby_error.empty())
        return {finding_level::bad, facts.standby_error, "the database has no second copy so",
                "put [standby] right, and see docs/operating/standby.md"};
    if (facts.is_standby)
        return good("the database is a standby's copy; 'posthorn standby status' tells how it is");
    if (facts.standby.empty()) return good("no standby is configured");
    if (facts.standby_may_lack)
        return {finding_level::warn,
                fmt::format("the standby {} may lack what is answered", facts.standby),
                "its promotion may then lose messages, and repeat others",
                "set standby.mode = \"sync\" and standby.when_lost = \"wait\", unless that is "
                "meant"};
    if (facts.standby_link_is_open)
        return {finding_level::warn,
                fmt::format("what goes to the standby {} is not encrypted", facts.standby),
                "who can listen on the way reads all of the database",
                "give both a certificate: standby.certificate, private_key and authority"};
    return good(fmt::format("what is answered is on the standby {} too", facts.standby));
}

}  // namespace posthorn
