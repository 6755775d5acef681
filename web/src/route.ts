// Where the desk is. The address holds all of it, so that a link shows another person the same.

import { computed, signal } from "@preact/signals";

const here = signal(new URL(location.href));

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
  if (link.hash && link.pathname === location.pathname) return; // Further down on this page.
  event.preventDefault();
  go(link.href);
});

export function messageLink(id: string): string {
  return `/desk/messages/${encodeURIComponent(id)}`;
}

export function inboxLink(id: string): string {
  return `/desk/inbox/${encodeURIComponent(id)}`;
}
