// What a service manager is told.
#include <csignal>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sidecar_fixture.hpp"

namespace posthorn::integration {
namespace {

/// The manager's end.
class manager {
public:
    explicit manager(const std::string& path) : descriptor_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        path.copy(at.sun_path, sizeof(at.sun_path) - 1);
        EXPECT_EQ(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&at), sizeof(at)), 0);
        const timeval patience{.tv_sec = 30, .tv_usec = 0};
        ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    }
    ~manager() { ::close(descriptor_); }
    manager(const manager&) = delete;
    manager& operator=(const manager&) = delete;

    [[nodiscard]] std::string next() const {
        std::string text(256, '\0');
        const auto size = ::recv(descriptor_, text.data(), text.size(), 0);
        text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
        return text;
    }

private:
    int descriptor_;
};

TEST(service_manager, is_told_of_start_reload_and_stop) {
    const test::temporary_directory folder;
    const manager told(folder.file("notify"));
    sidecar node(folder, "orders", free_ports,
                 {.environment = {{"NOTIFY_SOCKET", folder.file("notify")}}});
    EXPECT_EQ(told.next(), "READY=1");
    node.child().send_signal(SIGHUP);
    EXPECT_THAT(told.next(), testing::StartsWith("RELOADING=1\nMONOTONIC_USEC="));
    EXPECT_EQ(told.next(), "READY=1");
    node.child().send_signal(SIGTERM);
    EXPECT_EQ(told.next(), "STOPPING=1");
    EXPECT_EQ(node.child().wait(), exit_0);
}

TEST(service_manager, hears_from_a_node_that_works_as_often_as_it_asks) {
    const test::temporary_directory folder;
    const manager told(folder.file("notify"));
    sidecar node(
        folder, "orders", free_ports,
        {.environment = {{"NOTIFY_SOCKET", folder.file("notify")}, {"WATCHDOG_USEC", "20000"}}});
    EXPECT_EQ(told.next(), "READY=1");
    EXPECT_EQ(told.next(), "WATCHDOG=1");
    EXPECT_EQ(told.next(), "WATCHDOG=1");
    node.stop();
}

}  // namespace
}  // namespace posthorn::integration
