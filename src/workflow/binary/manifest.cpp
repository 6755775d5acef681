#include "workflow/binary/manifest.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

using detail::note_kind;

constexpr std::string_view owner = "Posthorn";

struct notes_reader {
    const manifest_limits& limits;
    binary_manifest made{};
    bool has_head = false;
    std::optional<std::string> linked_only{};

    inspected<> read(const elf_note& note) {
        try {
            switch (static_cast<note_kind>(note.kind)) {
                case note_kind::binary: return take_head(decode<manifest_head>(note.text));
                case note_kind::workflow:
                    return take(made.workflows, decode<manifest_workflow>(note.text));
                case note_kind::call: return take_call(decode<manifest_service>(note.text));
                case note_kind::wait: return take(made.waits, decode<manifest_arrival>(note.text));
                case note_kind::receive:
                    return take(made.receives, decode<manifest_arrival>(note.text));
                case note_kind::linked_only: {
                    const auto used = decode<std::map<std::string, std::string>>(note.text);
                    if (const auto what = used.find("uses"); what != used.end())
                        linked_only = what->second;
                    return {};
                }
            }
        } catch (const error& misfit) {
            return refuse(binary_flaw::manifest_unreadable,
                          "note {} of the binary does not fit: {}", note.kind, misfit.what());
        }
        return {};  // Of a later version, which the number of the protocol tells.
    }

    inspected<> check_name(std::string_view name) const {
        const bool is_plain = std::ranges::none_of(
            name, [](char each) { return static_cast<unsigned char>(each) < ' '; });
        if (name.empty() || name.size() > limits.name_bytes_max || !is_plain || !is_utf8(name))
            return refuse(binary_flaw::manifest_unreadable,
                          "the manifest has the name '{}', of {} bytes: from 1 to {} that can be "
                          "printed are allowed",
                          shown_name(name), name.size(), limits.name_bytes_max);
        return {};
    }

    inspected<> take_head(manifest_head head) {
        POSTHORN_TRY(check_name(head.name));
        POSTHORN_TRY(check_name(head.version));
        if (has_head)
            return refuse(binary_flaw::manifest_unreadable, "the binary has two names: {} and {}",
                          made.head.name, head.name);
        has_head = true;
        made.head = std::move(head);
        return {};
    }

    template <class Named>
    inspected<> take(std::vector<Named>& into, Named one) const {
        POSTHORN_TRY(check_name(one.name));
        into.push_back(std::move(one));
        return {};
    }

    inspected<> take_call(manifest_service called) {
        POSTHORN_TRY(check_name(called.name));
        POSTHORN_TRY(check_name(called.interface));
        for (const auto& each : called.messages) {
            POSTHORN_TRY(check_name(each.name));
            POSTHORN_TRY(check_name(each.endpoint));
            if (!each.endpoint.starts_with(called.interface + '/'))
                return refuse(binary_flaw::manifest_unreadable,
                              "the manifest calls {}, which is not of its interface {}",
                              each.endpoint, called.interface);
        }
        const auto known =
            std::ranges::find(made.services, called.interface, &manifest_service::interface);
        if (known == made.services.end())
            made.services.push_back(std::move(called));
        else
            std::ranges::move(called.messages, std::back_inserter(known->messages));
        return {};
    }

    /// The same from two places of the code is one; two that differ, under one name, are an error.
    template <class One, class Key>
    inspected<> order(std::vector<One>& list, std::string_view what, const Key& key) const {
        std::ranges::sort(list, {}, key);
        const auto doubles = std::ranges::unique(list);
        list.erase(doubles.begin(), doubles.end());
        const auto again = std::ranges::adjacent_find(list, {}, key);
        if (again != list.end())
            return refuse(binary_flaw::manifest_unreadable, "the binary has two {} {}", what,
                          std::get<0>(key(*again)));
        return {};
    }

    inspected<binary_manifest> finish() {
        if (!has_head || made.workflows.empty())
            return refuse(binary_flaw::no_manifest,
                          "the binary does not say {}; build it with posthorn_workflow_binary, "
                          "which needs Clang",
                          has_head ? "which workflows are in it" : "what it is called");
        if (made.head.abi != detail::workflow_abi)
            return refuse(binary_flaw::other_abi,
                          "the binary speaks protocol {} and this engine {}; build it with this "
                          "version of Posthorn",
                          made.head.abi, detail::workflow_abi);
        if (linked_only)
            return refuse(binary_flaw::linked_only,
                          "a workflow of the binary uses f.{}, which needs a program that it is "
                          "linked into; a deployed one calls a service instead",
                          shown_name(*linked_only));
        if (made.workflows.size() > limits.workflows_max)
            return refuse(binary_flaw::too_large, "the binary has {} workflows, and {} are allowed",
                          made.workflows.size(), limits.workflows_max);
        POSTHORN_TRY(order(made.workflows, "workflows", [](const manifest_workflow& one) {
            return std::tuple(std::string_view(one.name), one.version);
        }));
        const auto by_name = [](const auto& one) { return std::tuple(std::string_view(one.name)); };
        POSTHORN_TRY(order(made.waits, "signals", by_name));
        POSTHORN_TRY(order(made.receives, "Commands", by_name));
        for (auto& each : made.services) POSTHORN_TRY(order(each.messages, "messages", by_name));
        std::ranges::sort(made.services, {}, &manifest_service::interface);
        for (const auto& each : made.workflows)
            if (each.version == 0)
                return refuse(binary_flaw::manifest_unreadable, "the workflow {} has no version",
                              each.name);
        return std::move(made);
    }
};

}  // namespace

const manifest_workflow* binary_manifest::find_workflow(std::string_view name,
                                                        unsigned version) const noexcept {
    for (const auto& each : workflows)
        if (each.name == name && each.version == version) return &each;
    return nullptr;
}

const manifest_message* binary_manifest::find_call(std::string_view endpoint) const noexcept {
    for (const auto& each : services)
        for (const auto& message : each.messages)
            if (message.endpoint == endpoint) return &message;
    return nullptr;
}

inspected<binary_manifest> read_manifest(const elf_image& image, const manifest_limits& limits) {
    notes_reader reader{limits};
    std::size_t bytes = 0;
    for (const auto& note : image.notes) {
        if (note.name != owner) continue;
        bytes += note.text.size();
        if (bytes > limits.bytes_max)
            return refuse(binary_flaw::too_large,
                          "the manifest has more than {} bytes, which are allowed",
                          limits.bytes_max);
        POSTHORN_TRY(reader.read(note));
    }
    return reader.finish();
}

}  // namespace posthorn
