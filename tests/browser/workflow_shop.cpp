// A shop whose orders are workflows, with its stock and its till, for the desk's tests.
// Usage: workflow_shop serve --config FILE. With POSTHORN_SHOP=changed its code was changed wrongly.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include <posthorn/posthorn.hpp>
#include <posthorn/workflow.hpp>

namespace {

using namespace std::chrono_literals;
using posthorn::the;

struct order {
    std::string id;
    std::int64_t cents = 0;
};
struct reserve {
    using contract = posthorn::as_command<"Reserve">;
    std::string order_id;
};
struct release {
    using contract = posthorn::as_command<"Release">;
    std::string order_id;
};
using stock = posthorn::service<"stock", 1, reserve, release>;
struct charge {
    using contract = posthorn::as_command<"Charge", std::string>;
    std::string order_id;
    std::int64_t cents = 0;
};
using billing = posthorn::service<"billing", 1, charge>;
struct decided {
    using contract = posthorn::as_signal<"Decided">;
    std::string order_id, by;
    bool approved = false;
};
struct phase {
    std::string now = "new", by;
};

const bool is_changed = [] {
    const char* const said = std::getenv("POSTHORN_SHOP");
    return said != nullptr && said == std::string("changed");
}();

posthorn::workflow<std::string> approve(posthorn::flow<phase>& f, order o) {
    co_await f.call<stock>(reserve{o.id}).undo(release{o.id});
    if (is_changed) co_await f.sleep(1h);
    f.state.now = "waiting";
    const auto answer = co_await f.wait(the<&decided::order_id> == o.id).within(72h);
    if (!answer || !answer->approved) throw posthorn::failed("refused");
    f.state = {"paying", answer->by};
    co_return co_await f.call<billing>(charge{o.id, o.cents});
}
POSTHORN_WORKFLOW(approve, "Approve", 1)

struct shelves {
    void handle(posthorn::context& /*c*/, const reserve& /*m*/) {}
    void handle(posthorn::context& /*c*/, const release& /*m*/) {}
};
struct till {
    std::string handle(posthorn::context& /*c*/, const charge& m) { return "r-" + m.order_id; }
};

}  // namespace

int main(int count, char** words) {
    if (count != 4) return 2;
    auto from = posthorn::load(words[3]);
    from.options.default_route = "inprocess:";
    const auto beside = [&](const std::string& service) {
        return posthorn::node_options{
            .service = service,
            .store = {.database = from.options.store.database + "." + service},
            .default_route = "inprocess:"};
    };
    posthorn::node warehouse(beside("stock"));
    posthorn::node office(beside("billing"));
    posthorn::node shop(from);
    shelves storage;
    till counter;
    posthorn::offer<stock> offered(warehouse, storage);
    posthorn::offer<billing> also_offered(office, counter);
    warehouse.start();
    office.start();
    shop.add(approve);
    shop.start();
    for (const auto& each : shop.addresses()) std::cout << each << " ";
    std::cout << std::endl;
    shop.wait();
    return 0;
}
