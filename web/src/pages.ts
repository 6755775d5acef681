// The pages in the order of the menu. The one that a feature brings is shown where the node has it.

import { computed } from "@preact/signals";
import { routes } from "./node";
import type { DeskPage } from "./page";
import { audit } from "./pages/audit";
import { dead } from "./pages/dead";
import { destinationsPage } from "./pages/destinations";
import { forward } from "./pages/forward";
import { inboxPage } from "./pages/inbox";
import { keys } from "./pages/keys";
import { messages } from "./pages/messages";
import { nodes } from "./pages/nodes";
import { overview } from "./pages/overview";
import { queues } from "./pages/queues";
import { standby } from "./pages/standby";
import { store } from "./pages/store";
import { webhooks } from "./pages/webhooks_desk";
import { workflows } from "./pages/workflows";
import { place } from "./route";

const all: DeskPage[] = [overview, messages, dead, destinationsPage, inboxPage, queues, forward, webhooks, workflows, store, standby, audit, keys, nodes];

export const pages = computed(() => all.filter((each) => !each.needs || routes.value?.has(each.needs)));

/// The page at this address, whether the node has it or not.
export const current = computed(() => all.find((each) => each.name === place.value.name) ?? null);

/// The key that opens a page: 1 to 9, and 0 for the tenth.
export function keyOf(index: number): string {
  return index < 9 ? String(index + 1) : index === 9 ? "0" : "";
}
