// The page around this one: it may give a token and colours, and is told when a new token is wanted.

import type { Named } from "./look";

export const embedded = window.parent !== window;

const said = document.querySelector<HTMLMetaElement>("meta[name=posthorn-embedders]")?.content ?? "";
/// Where such a page may come from; the node's policy lets no other show this one in a frame.
const embedders = said.split(" ");

const type = "posthorn-portal";

/// `ready` once, then `expiring` a minute before the token ends and `expired` when it has.
export type Wish = "ready" | "expiring" | "expired";

export function askEmbedder(state: Wish) {
  // To whomever it is: it says nothing but that this is the portal.
  if (embedded) window.parent.postMessage({ type, state }, "*");
}

export function onEmbedder(take: (what: Named) => void) {
  addEventListener("message", (event) => {
    if (!embedded || event.source !== window.parent || !embedders.includes(event.origin)) return;
    const what: unknown = event.data;
    if (typeof what !== "object" || what === null || (what as Named)["type"] !== type) return;
    take(what as Named);
  });
}
