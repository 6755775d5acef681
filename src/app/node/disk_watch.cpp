#include "app/node/disk_watch.hpp"

#include "base/async/run_on.hpp"

namespace posthorn {

task<> disk_watch::run() {
    while (co_await sleeper_.sleep_for(std::chrono::seconds{1}))
        co_await run_on(workers_, [this] {
            watched_.look_at_disk();
            watched_.look_at_files();
            return true;
        });
}

}  // namespace posthorn
