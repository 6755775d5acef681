#include "store/upkeep/disk_space.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace posthorn {
namespace {

class real_disk_space final : public disk_space {
public:
    explicit real_disk_space(const std::filesystem::path& database)
        : folder_(database.has_parent_path() ? database.parent_path().string() : "."),
          ballast_(database.string() + "-ballast") {}

    std::optional<std::uint64_t> free() override {
        struct statvfs seen{};
        if (::statvfs(folder_.c_str(), &seen) != 0) return std::nullopt;
        return std::uint64_t{seen.f_bavail} * seen.f_frsize;
    }

    bool has_ballast() override {
        std::error_code missing;
        return std::filesystem::exists(ballast_, missing);
    }

    result<> make_ballast(std::uint64_t bytes) override {
        constexpr mode_t ours_alone = 0600;
        const int file =
            ::open(ballast_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, ours_alone);
        if (file < 0) return refusal(errno);
        const int failure = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
        ::close(file);
        if (failure == 0) return {};
        drop_ballast();  // Half of it would be taken for the whole.
        return refusal(failure);
    }

    void drop_ballast() override { ::unlink(ballast_.c_str()); }

private:
    [[nodiscard]] std::unexpected<error> refusal(int number) const {
        return fail(error_code::io_failed, "cannot make {}: {}", ballast_,
                    std::generic_category().message(number));
    }

    std::string folder_;
    std::string ballast_;
};

}  // namespace

std::unique_ptr<disk_space> disk_space_of(const std::filesystem::path& database) {
    return std::make_unique<real_disk_space>(database);
}

}  // namespace posthorn
