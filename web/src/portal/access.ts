// Who asks, which a token says. It is kept here, in memory, and is written nowhere: not into the
// address, the page or the browser's stores.

import { batch, effect, signal } from "@preact/signals";
import { go } from "../address";
import { asking, Refusal, refusalOf } from "../answer";
import { askEmbedder, embedded, onEmbedder } from "./embedder";
import { wear, type Named } from "./look";

/// What a token lets its holder do.
export interface Grant {
  tenant: string;
  rights: string;
  until: string;
  secondsLeft: number;
}

/// Null until a token was taken.
export const grant = signal<Grant | null>(null);
/// Why no token could be looked at, though there is one.
export const failure = signal("");
/// False while no token has come.
export const offered = signal(false);

const base = location.pathname.replace(/\/$/, "");
const warnedBefore = 60; // Seconds, or half of what holds for less than two minutes.

let token = "";
let latest = 0;
let waiting: Array<() => void> = [];
let warning: ReturnType<typeof setTimeout> | undefined;

async function send(path: string, shown: string, body?: string, method = "GET"): Promise<Response> {
  const headers: Record<string, string> = { Authorization: `Bearer ${shown}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    return await fetch(base + path, { method, headers, body, credentials: "omit", cache: "no-store" });
  } catch {
    throw new Refusal(0, "unreachable", "There is no answer. The connection may be gone; try again in a moment.");
  }
}

/// The token does not hold any more, or never did.
function end() {
  if (asking.peek() !== null) return;
  const never = embedded ? "This page was not let in" : "This link does not let you in";
  asking.value = grant.peek()
    ? "Your access to this page has ended."
    : `${never}: its time is over, or a part of it was lost.`;
  askEmbedder("expired");
}

function begin(shown: string, known: Grant) {
  const before = grant.peek();
  token = shown;
  failure.value = "";
  batch(() => {
    if (before && before.tenant !== known.tenant) go(location.pathname); // What was looked at is another's.
    grant.value = known;
    asking.value = null;
  });
  clearTimeout(warning);
  const warned = Math.max(known.secondsLeft - warnedBefore, known.secondsLeft / 2, 1);
  warning = setTimeout(() => askEmbedder("expiring"), warned * 1000);
  const all = waiting;
  waiting = [];
  for (const each of all) each();
}

async function take(shown: string) {
  const number = ++latest;
  offered.value = true;
  try {
    const answer = await send("/token", shown);
    if (number !== latest) return; // Another one has come meanwhile.
    if (answer.status === 401) return end();
    if (!answer.ok) throw await refusalOf(answer);
    begin(shown, (await answer.json()) as Grant);
  } catch (thrown) {
    failure.value = thrown instanceof Error ? thrown.message : String(thrown);
    again = () => void take(shown);
  }
}

let again = () => {};
export const tryAgain = () => again();

/// Waits for a new token where one does not hold any more; what was refused was not done.
async function exchange(path: string, body?: string, method = "GET"): Promise<Response> {
  const whose = grant.peek()?.tenant;
  for (;;) {
    const used = token;
    const answer = await send(path, used, body, method);
    if (answer.status !== 401) return answer;
    if (used === token) {
      end();
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    if (grant.peek()?.tenant !== whose) throw new Refusal(401, "access_denied", "This page is another's now.");
  }
}

async function json<T>(path: string, body?: string, method?: string): Promise<T> {
  const answer = await exchange(path, body, method);
  if (!answer.ok) throw await refusalOf(answer);
  return (await answer.json()) as T;
}

export function get<T>(path: string): Promise<T> {
  return json<T>(path);
}

export function post<T>(path: string, body?: unknown): Promise<T> {
  return json<T>(path, body === undefined ? undefined : JSON.stringify(body), "POST");
}

function accept(what: Named) {
  wear(what);
  const shown = what["token"];
  if (typeof shown === "string" && shown) void take(shown);
}

/// What stands behind the address's `#` is taken and removed, so that no one reads it there.
function readFragment() {
  const text = location.hash.slice(1);
  if (!text) return;
  history.replaceState(null, "", location.pathname + location.search);
  accept(Object.fromEntries(new URLSearchParams(text)));
}

onEmbedder(accept);
addEventListener("hashchange", readFragment);
readFragment();
if (embedded) askEmbedder("ready");

effect(() => {
  const who = grant.value;
  document.title = who ? `Webhooks · ${who.tenant}` : "Webhooks";
});
