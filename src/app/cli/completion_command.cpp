#include <ostream>

#include "app/cli/completion.hpp"
#include "app/cli/kit/command.hpp"
#include "app/cli/kit/options.hpp"

namespace posthorn::cli {
namespace {

class completion_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_place(options, "SHELL", shell_, "the shell it is for")
            ->required()
            ->check(CLI::IsMember({"bash", "zsh", "fish"}));
        options.footer(
            "Examples:\n"
            "  bash: source <(posthorn completion bash)\n"
            "  zsh:  posthorn completion zsh > \"${fpath[1]}/_posthorn\"\n"
            "  fish: posthorn completion fish > ~/.config/fish/completions/posthorn.fish");
    }

    result<> run(const console& terminal) override {
        const auto forms = list_commands();
        terminal.out << (shell_ == "bash"  ? bash_completion(forms)
                         : shell_ == "zsh" ? zsh_completion(forms)
                                           : fish_completion(forms));
        return {};
    }

private:
    std::string shell_;
};

}  // namespace

std::unique_ptr<command> make_completion_command() {
    return std::make_unique<completion_command>();
}

}  // namespace posthorn::cli
