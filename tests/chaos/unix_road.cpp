#include <filesystem>

#include "base/result.hpp"
#include "chaos/road.hpp"
#include "chaos/storm.hpp"
#include "transport/pipe/pipe_path.hpp"

namespace posthorn::chaos {
namespace {

// Two sizes, big endian, and what they are of.
std::size_t frame_size(std::string_view bytes) {
    constexpr std::size_t sizes = 8;
    if (bytes.size() < sizes) return 0;
    const auto number = [&](std::size_t from) {
        std::size_t value = 0;
        for (std::size_t i = 0; i < 4; ++i)
            value = value << 8 | static_cast<unsigned char>(bytes[from + i]);
        return value;
    };
    const auto size = sizes + number(0) + number(4);
    return size <= bytes.size() ? size : 0;
}

class road_over_unix final : public road {
public:
    explicit road_over_unix(const road_parts& parts)
        : parts_(parts),
          storm_({.seed = parts.seed,
                  .at = {.path = parts.folder.file(parts.to + ".proxy")},
                  .size_of = frame_size},
                 parts.counts, parts.answers) {}

    void reach(node_options& receiver) override { receiver.listen.unix_socket = path(); }
    void lay(node_options& sender) override {
        sender.routes[parts_.to] = "unix://" + storm_.address().path;
    }
    void open(const node& /*receiver*/) override { storm_.aim({.path = path()}); }
    void calm() override { storm_.calm(); }

private:
    [[nodiscard]] std::string path() const { return parts_.folder.file(parts_.to + ".sock"); }

    road_parts parts_;
    storm storm_;
};

/// The same frames through the sockets that .NET calls pipes, which all lie in one folder.
class road_over_pipe final : public road {
public:
    explicit road_over_pipe(const road_parts& parts)
        : parts_(parts),
          // The folder's name is nobody else's.
          name_(parts.to + "-" +
                std::filesystem::path(parts.folder.file("")).parent_path().filename().string()),
          storm_({.seed = parts.seed,
                  .at = {.path = path_of(name_ + "-proxy")},
                  .size_of = frame_size},
                 parts.counts, parts.answers) {}
    // The folder is everybody's: neither the node's lock, for whoever comes next, nor our own
    // socket is to stay in it.
    ~road_over_pipe() override {
        std::filesystem::remove(path_of(name_) + ".lock");
        std::filesystem::remove(path_of(name_ + "-proxy"));
    }

    [[nodiscard]] std::string settings() const override {
        return "[listen]\npipe = \"" + name_ + "\"\n";
    }
    void reach(node_options& /*receiver*/) override {}
    void lay(node_options& sender) override {
        sender.routes[parts_.to] = "pipe://" + name_ + "-proxy";
    }
    void open(const node& /*receiver*/) override { storm_.aim({.path = path_of(name_)}); }
    void calm() override { storm_.calm(); }

private:
    static std::string path_of(const std::string& name) { return value_or_throw(pipe_path(name)); }

    road_parts parts_;
    std::string name_;
    storm storm_;
};

}  // namespace

std::unique_ptr<road> pipe_road(const road_parts& parts) {
    return std::make_unique<road_over_pipe>(parts);
}

std::unique_ptr<road> unix_road(const road_parts& parts) {
    return std::make_unique<road_over_unix>(parts);
}

}  // namespace posthorn::chaos
