// Light, dark or high contrast as the system has it, unless the embedding page says which; and the few
// colours and sizes that it may give.

import { effect, signal } from "@preact/signals";

export type Named = Record<string, unknown>;

const dark = matchMedia("(prefers-color-scheme: dark)");
const contrast = matchMedia("(prefers-contrast: more)");

// Each with the property that its value has to suit, so that no text of another page can become
// anything but a colour, a length or the name of a font.
const settable: Record<string, string> = {
  "--paper": "color",
  "--sheet": "color",
  "--ink": "color",
  "--soft": "color",
  "--line": "color",
  "--edge": "color",
  "--focus": "color",
  "--accent": "color",
  "--on-accent": "color",
  "--radius": "border-top-left-radius",
  "--sans": "font-family",
};
const lengthMax = 200;

const chosen = signal<"light" | "dark" | "">("");
const given = signal<Record<string, string>>({});
const system = signal(0); // Counts what the system has changed.

function suits(name: string, value: unknown): value is string {
  const property = settable[name];
  return (
    property !== undefined &&
    typeof value === "string" &&
    value.length <= lengthMax &&
    !/\b(var|env|attr)\(/i.test(value) && // These suit every property.
    CSS.supports(property, value)
  );
}

/// Takes what is known among the names, and nothing else.
export function wear(wanted: Named) {
  const { theme } = wanted;
  if (theme === "light" || theme === "dark") chosen.value = theme;
  if (theme === "system") chosen.value = "";
  const known: Record<string, string> = {};
  for (const [name, value] of Object.entries(wanted)) if (suits(name, value)) known[name] = value;
  if (Object.keys(known).length > 0) given.value = { ...given.value, ...known };
}

effect(() => {
  void system.value;
  const shown = contrast.matches ? "contrast" : chosen.value || (dark.matches ? "dark" : "light");
  const root = document.documentElement;
  root.dataset["theme"] = shown;
  // Who needs contrast gets it, whatever the colours of the service are.
  for (const name of Object.keys(settable))
    if (shown === "contrast" || given.value[name] === undefined) root.style.removeProperty(name);
    else root.style.setProperty(name, given.value[name]);
});

for (const query of [dark, contrast]) query.addEventListener("change", () => ++system.value);
