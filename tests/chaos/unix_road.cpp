#include "chaos/road.hpp"
#include "chaos/storm.hpp"

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

    void reach(node_options& receiver) override { receiver.listen_unix = path(); }
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

}  // namespace

std::unique_ptr<road> unix_road(const road_parts& parts) {
    return std::make_unique<road_over_unix>(parts);
}

}  // namespace posthorn::chaos
