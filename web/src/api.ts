// Asks the node. Who asks is known by a cookie that no script can read; a key is sent once, to sign in.

import { computed, signal } from "@preact/signals";
import { asking, query, Refusal, refusalOf, wordsOf } from "./answer";
import type { Caller } from "./types";

export { asking, query, Refusal, wordsOf };

/// Who the node takes us for; null before it was asked, and while it lets us do nothing.
export const caller = signal<Caller | null>(null);
export const signedIn = computed(() => caller.value?.by === "session");
/// There was a session, and the node does not know it any more.
export const ended = signal(false);
/// What a person should know before they give a key: why the last one did not do, or the session ended.
export const remark = signal("");
/// A person was asked for a key to look, and gave none: nothing is asked until they want to.
export const declined = signal(false);
/// False while the node does not answer at all.
export const answering = signal(true);

let waiting: Array<(given: boolean) => void> = [];

/// Waits until a person has given a key, or has said that they will not.
function askForKey(why: string): Promise<boolean> {
  asking.value = why;
  return new Promise((resolve) => waiting.push(resolve));
}

function settle(given: boolean) {
  asking.value = null;
  const all = waiting;
  waiting = [];
  for (const each of all) each(given);
}

/// Signs in; if the node does not take the key, the dialog stays and says why.
export async function giveKey(text: string) {
  const answer = await send("/_rf/session", { method: "POST", body: { key: text.trim() } });
  if (!answer.ok) {
    remark.value = (await refusalOf(answer)).message;
    return;
  }
  caller.value = (await answer.json()) as Caller;
  ended.value = false;
  remark.value = "";
  settle(true);
}

export function giveNoKey() {
  settle(false);
}

export function signIn() {
  declined.value = false;
}

/// All that was shown goes with the session.
export async function signOut() {
  await send("/_rf/session", { method: "DELETE" });
  location.reload();
}

interface Ask {
  method?: "GET" | "POST" | "DELETE";
  body?: unknown;
  ifMatch?: string;
}

async function send(path: string, ask: Ask): Promise<Response> {
  const headers: Record<string, string> = {};
  const csrf = caller.peek()?.csrf;
  if (csrf && ask.method) headers["X-Posthorn-CSRF"] = csrf;
  if (ask.ifMatch) headers["If-Match"] = `"${ask.ifMatch}"`;
  if (ask.body !== undefined) headers["Content-Type"] = "application/json";
  try {
    const answer = await fetch(path, {
      method: ask.method ?? "GET",
      headers,
      body: ask.body === undefined ? undefined : JSON.stringify(ask.body),
      credentials: "same-origin",
    });
    answering.value = true;
    return answer;
  } catch {
    answering.value = false;
    throw new Refusal(0, "unreachable", "The node does not answer. It may be restarting.");
  }
}

async function whoAmI(): Promise<Response> {
  const answer = await send("/_rf/whoami", {});
  caller.value = answer.ok ? ((await answer.clone().json()) as Caller) : null;
  return answer;
}

// The first request goes alone: if the node wants a key, it is refused once and not once for each
// part of the page, since every refusal is a row of the audit.
let first: Promise<unknown> | null = null;

function askFirst(): Promise<unknown> {
  first ??= whoAmI().then(
    async (answer) => {
      if (answer.status === 401) await refuse(answer, null, true).catch(() => undefined);
    },
    () => (first = null), // The node did not answer; the next request asks again.
  );
  return first;
}

/// Asks for a key; returns if one was given.
async function refuse(answer: Response, used: Caller | null, looks: boolean) {
  const why = await refusalOf(answer);
  if (caller.peek() !== used) return; // Another request has signed in meanwhile.
  ended.value = used?.by === "session";
  remark.value = ended.value ? why.message : "";
  if (await askForKey(why.message)) return;
  if (looks) declined.value = true;
  throw why;
}

/// Whether the node takes us for another than we thought: a session of another page of this browser,
/// or one that was opened anew.
async function hasChanged(used: Caller | null): Promise<boolean> {
  return (await whoAmI()).ok && caller.peek()?.csrf !== used?.csrf;
}

async function exchange(path: string, ask: Ask): Promise<Response> {
  const looks = ask.method === undefined;
  for (;;) {
    if (looks && declined.value) throw new Refusal(401, "access_denied", "A key is needed to look.");
    if (asking.value !== null && !(await askForKey(asking.value)))
      throw new Refusal(401, "access_denied", "A key is needed for this.");
    const used = caller.peek();
    const answer = await send(path, ask);
    if (answer.status === 403 && !looks && (await hasChanged(used))) continue;
    if (answer.status !== 401) return answer;
    await refuse(answer, used, looks);
  }
}

async function inTurn(path: string, ask: Ask): Promise<Response> {
  await askFirst();
  return exchange(path, ask);
}

async function json<T>(path: string, ask: Ask): Promise<T> {
  const answer = await inTurn(path, ask);
  // Health answers 503 with its reasons when the node cannot work.
  if (!answer.ok && !(answer.status === 503 && path.endsWith("/health")))
    throw await refusalOf(answer);
  return (await answer.json()) as T;
}

export function get<T>(path: string): Promise<T> {
  return json<T>(path, {});
}

export function post<T>(path: string, body?: unknown, ifMatch?: string): Promise<T> {
  return json<T>(path, { method: "POST", body, ifMatch });
}

export async function getText(path: string): Promise<string> {
  const answer = await inTurn(path, {});
  if (!answer.ok) throw await refusalOf(answer);
  return answer.text();
}

/// Reads server-sent events until they end or the signal aborts; false if the node gives none. By
/// `fetch`, since the browser's own reader of events cannot show a key.
export async function listen(path: string, take: (data: string) => void, signal: AbortSignal): Promise<boolean> {
  await askFirst();
  const answer = await fetch(path, { signal });
  if (!answer.ok || !answer.body) return false;
  answering.value = true;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return true;
    text += value;
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const data = event.split("\n").find((line) => line.startsWith("data: "));
      if (data) take(data.slice("data: ".length));
    }
  }
}
