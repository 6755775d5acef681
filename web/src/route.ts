// Where the desk is. The address holds all of it, so that a link shows another person the same.

import { computed, signal } from "@preact/signals";

const here = signal(new URL(location.href));

export const pages = [
  { name: "overview", path: "/desk/", title: "Overview" },
  { name: "messages", path: "/desk/messages", title: "Messages" },
  { name: "dead", path: "/desk/dead", title: "Dead letters" },
  { name: "destinations", path: "/desk/destinations", title: "Destinations" },
  { name: "inbox", path: "/desk/inbox", title: "Inbox" },
] as const;
export type PageName = (typeof pages)[number]["name"] | "message" | "unknown";

/// The page's name, and the id of the message it is about.
export const place = computed<{ name: PageName; id: string }>(() => {
  const [, desk = "", first = "", second = ""] = here.value.pathname.split("/");
  if (desk === "" || (desk === "desk" && first === "")) return { name: "overview", id: "" };
  if (first === "messages" && second) return { name: "message", id: decodeURIComponent(second) };
  const page = pages.find((each) => each.name === first);
  return { name: page && !second ? page.name : "unknown", id: "" };
});

export const filters = computed(() => here.value.searchParams);

export function go(to: string) {
  history.pushState(null, "", to);
  here.value = new URL(location.href);
  scrollTo(0, 0);
}

/// Changes some filters and leaves the others.
export function filter(changed: Record<string, string>) {
  const next = new URL(location.href);
  for (const [name, value] of Object.entries(changed))
    if (value) next.searchParams.set(name, value);
    else next.searchParams.delete(name);
  if (next.href === location.href) return;
  history.replaceState(null, "", next);
  here.value = next;
}

addEventListener("popstate", () => (here.value = new URL(location.href)));

// A click on a link to the desk changes the page, unless it asks for another window.
addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.target || link.origin !== location.origin) return;
  if (!link.pathname.startsWith("/desk") || link.pathname.startsWith("/desk/assets/")) return;
  event.preventDefault();
  go(link.href);
});

export function messageLink(id: string): string {
  return `/desk/messages/${encodeURIComponent(id)}`;
}
