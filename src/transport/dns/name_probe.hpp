#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "transport/dns/resolver.hpp"

namespace posthorn {

/// Asks the name servers of the system whether they say anything of a name, before a client that
/// others wrote is given it: such a client asks the system, which may wait half a minute and more
/// for servers that are out, and cannot be stopped meanwhile.
///
/// What they say does not matter: the client asks again, and the system knows of other ways.
///
/// Lifetime: outlives the calls of `ask`.
/// Threads:  any.
class name_probe {
public:
    explicit name_probe(resolver_options options = {.searches = true});

    /// Blocks. `error_code::timed_out` if no server answers in its time, `cancelled` once cut.
    result<> ask(const std::string& name);
    /// Whatever asks fails at once, and so does whatever asks later.
    void cut();

private:
    struct question;

    resolver_options options_;
    std::mutex mutex_;
    bool is_cut_ = false;
    std::vector<question*> under_way_;
};

}  // namespace posthorn
