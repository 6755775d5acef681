// Where a page is. The address holds all of it, so that a link shows another person the same.

import { computed, signal } from "@preact/signals";

export const here = signal(new URL(location.href));

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

/// A click on such a link changes the page, unless it asks for another window.
export function takeClicks(isOurs: (link: HTMLAnchorElement) => boolean) {
  addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.target || link.origin !== location.origin || !isOurs(link)) return;
    event.preventDefault();
    go(link.href);
  });
}
