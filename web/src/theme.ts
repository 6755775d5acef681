// Light, dark or high contrast: the system's choice, unless a person made one. The choice is all
// that the desk keeps in the browser.

import { effect, signal } from "@preact/signals";

export const themes = ["system", "light", "dark", "contrast"] as const;
export type Theme = (typeof themes)[number];

function stored(): Theme {
  try {
    return themes.find((each) => each === localStorage.getItem("posthorn-theme")) ?? "system";
  } catch {
    return "system"; // The browser keeps nothing for this page.
  }
}

export const theme = signal<Theme>(stored());

/// Which of them is shown now.
export const shownTheme = signal("");

const dark = matchMedia("(prefers-color-scheme: dark)");
const contrast = matchMedia("(prefers-contrast: more)");

function apply() {
  const chosen = theme.value;
  const shown = chosen !== "system" ? chosen : contrast.matches ? "contrast" : dark.matches ? "dark" : "light";
  document.documentElement.dataset["theme"] = shown;
  shownTheme.value = shown;
}

effect(apply);
dark.addEventListener("change", apply);
contrast.addEventListener("change", apply);

export function choose(next: Theme) {
  theme.value = next;
  try {
    localStorage.setItem("posthorn-theme", next);
  } catch {
    // It holds until the page is closed.
  }
}
