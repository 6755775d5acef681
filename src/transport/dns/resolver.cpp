#include "transport/dns/resolver.hpp"

#include <boost/asio/this_coro.hpp>

#include "base/async/with_timeout.hpp"
#include "transport/dns/lookup.hpp"

namespace posthorn {

resolver::resolver(timer& time, resolver_options options)
    : time_(time), options_(std::move(options)) {}

task<result<std::vector<ip_address>>> resolver::find(std::string name) {
    if (const auto numeric = parse_plain_address(name)) co_return std::vector{*numeric};
    if (name.find('\0') != name.npos)
        co_return fail(error_code::unreachable, "a name with a NUL in it has no address");
    if (at_work_ >= options_.names_at_once_max)
        co_return fail(error_code::overloaded, "{} names are looked for already", at_work_);
    struct place {
        std::size_t& taken;
        explicit place(std::size_t& count) : taken(count) { ++taken; }
        ~place() { --taken; }
    };
    const place mine(at_work_);
    auto found = co_await with_timeout(time_, options_.limit, ask(name));
    if (!found && found.error().code() == error_code::timed_out)
        co_return fail(error_code::timed_out, "no name server told what '{}' is within {} ms", name,
                       options_.limit.count());
    co_return found;
}

task<result<std::vector<ip_address>>> resolver::ask(std::string name) {
    POSTHORN_CO_LET(one, lookup::make(co_await boost::asio::this_coro::executor, options_));
    auto found = co_await one->run(std::move(name), time_);
    one->close();
    co_return found;
}

}  // namespace posthorn
