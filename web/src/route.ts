// Where the desk is, and where in it things are.

import { computed } from "@preact/signals";
import { filter, filters, go, here, takeClicks } from "./address";
import { query } from "./answer";

export { filter, filters, go };

/// The page's name, and the id of what it is about; the page may not exist.
export const place = computed<{ name: string; id: string }>(() => {
  const [, desk = "", name = "", id = "", more] = here.value.pathname.split("/");
  if (desk === "") return { name: "", id: "" };
  if (more !== undefined) return { name: "unknown", id: "" };
  try {
    return { name, id: decodeURIComponent(id) };
  } catch {
    return { name: "unknown", id: "" }; // Not percent-encoded.
  }
});

takeClicks((link) => {
  if (!link.pathname.startsWith("/desk") || link.pathname.startsWith("/desk/assets/")) return false;
  return !link.hash || link.pathname !== location.pathname; // Otherwise further down on this page.
});

export function messageLink(id: string): string {
  return `/desk/messages/${encodeURIComponent(id)}`;
}

export function inboxLink(id: string): string {
  return `/desk/inbox/${encodeURIComponent(id)}`;
}

/// To another node, or to one of its messages as this desk shows it.
export function nodeLink(name: string, message?: string): string {
  return `/desk/nodes/${encodeURIComponent(name)}${query({ message })}`;
}
