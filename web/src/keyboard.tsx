// Keys of the whole desk. Pages mark rows with `data-row`; j and k walk them.

import { signal } from "@preact/signals";
import { asking } from "./api";
import { keyOf, pages } from "./pages";
import { go } from "./route";
import { Dialog } from "./ui";

const helpShown = signal(false);

const keys = (): Array<[string, string]> => [
  ["/", "search for an id or an order key"],
  ["j  k", "next and previous row"],
  ["Enter", "open the row"],
  ["x", "select the row, among dead letters"],
  ...pages.value.map((page, i): [string, string] => [keyOf(i), page.title]).filter(([key]) => key),
  ["Esc", "close what is open, leave a field"],
  ["?", "this list"],
];

function rows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-row]")];
}

function walk(step: number) {
  const all = rows();
  const at = all.findIndex((each) => each.contains(document.activeElement));
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

function onRow(found: (row: HTMLElement) => void) {
  const row = rows().find((each) => each === document.activeElement);
  if (row) found(row);
}

const actions: Record<string, () => void> = {
  "/": () => document.querySelector<HTMLInputElement>("[data-search]")?.focus(),
  j: () => walk(1),
  k: () => walk(-1),
  Enter: () => onRow((row) => row.querySelector<HTMLElement>("a, [data-open]")?.click()),
  x: () => onRow((row) => row.querySelector<HTMLInputElement>("input[type=checkbox]")?.click()),
  "?": () => (helpShown.value = true),
};

function actionOf(key: string): (() => void) | undefined {
  const page = pages.peek().find((_, i) => keyOf(i) === key);
  return page ? () => go(`/desk/${page.name}`) : actions[key];
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const inField =
    event.target instanceof HTMLElement && event.target.matches("input:not([type=checkbox]), textarea, select");
  if (inField) {
    if (event.key === "Escape") (event.target as HTMLElement).blur();
    return;
  }
  if (asking.value !== null || document.querySelector("dialog[open]")) return;
  // A button or a link that has the focus knows by itself what Enter means.
  if (event.key === "Enter" && !(event.target as HTMLElement).matches("[data-row]")) return;
  const action = actionOf(event.key);
  if (!action) return;
  event.preventDefault();
  action();
});

export function showKeys() {
  helpShown.value = true;
}

export function KeyHelp() {
  if (!helpShown.value) return null;
  const close = () => (helpShown.value = false);
  return (
    <Dialog title="Keys" onClose={close}>
      <dl class="keys">
        {keys().map(([name, meaning]) => (
          <>
            <dt>
              <kbd>{name}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </>
        ))}
      </dl>
      <div class="actions">
        <button type="button" class="primary" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
