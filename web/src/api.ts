// Asks the node. A key is kept in this variable and nowhere else: closing the page forgets it.

import { signal } from "@preact/signals";

export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

let key = "";
/// Whether a key was given; the key itself is not for the page to show.
export const signedIn = signal(false);
/// Why a key is asked for; null while none is.
export const asking = signal<string | null>(null);
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

export function giveKey(text: string) {
  key = text.trim();
  signedIn.value = key !== "";
  settle(true);
}

export function giveNoKey() {
  settle(false);
}

export function signIn() {
  declined.value = false;
}

/// All that was shown goes with the key.
export function signOut() {
  location.reload();
}

interface Ask {
  method?: "GET" | "POST";
  body?: unknown;
  ifMatch?: string;
}

async function send(path: string, ask: Ask): Promise<Response> {
  const headers: Record<string, string> = {};
  if (key) headers["Authorization"] = `Bearer ${key}`;
  if (ask.ifMatch) headers["If-Match"] = `"${ask.ifMatch}"`;
  if (ask.body !== undefined) headers["Content-Type"] = "application/json";
  try {
    const answer = await fetch(path, {
      method: ask.method ?? "GET",
      headers,
      body: ask.body === undefined ? undefined : JSON.stringify(ask.body),
      credentials: "omit",
    });
    answering.value = true;
    return answer;
  } catch {
    answering.value = false;
    throw new Refusal(0, "unreachable", "The node does not answer. It may be restarting.");
  }
}

async function refusalOf(answer: Response): Promise<Refusal> {
  try {
    const told = (await answer.json()) as { error?: string; message?: string };
    return new Refusal(answer.status, told.error ?? "", told.message ?? answer.statusText);
  } catch {
    return new Refusal(answer.status, "", `The node answered ${answer.status}.`);
  }
}

// The first request goes alone: if the node wants a key, it is refused once and not once for each
// part of the page, since every refusal is a row of the audit.
let first: Promise<unknown> | null = null;

async function exchange(path: string, ask: Ask): Promise<Response> {
  const looks = (ask.method ?? "GET") === "GET";
  for (;;) {
    if (looks && declined.value) throw new Refusal(401, "access_denied", "A key is needed to look.");
    if (asking.value !== null && !(await askForKey(asking.value)))
      throw new Refusal(401, "access_denied", "A key is needed for this.");
    const used = key;
    const answer = await send(path, ask);
    if (answer.status !== 401) return answer;
    const why = await refusalOf(answer);
    if (key !== used) continue; // Another request has brought a new one meanwhile.
    if (await askForKey(why.message)) continue;
    if (looks) declined.value = true;
    throw why;
  }
}

async function inTurn(path: string, ask: Ask): Promise<Response> {
  if (first) {
    await first.catch(() => undefined);
    return exchange(path, ask);
  }
  const own = exchange(path, ask);
  first = own;
  return own;
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
  const headers: Record<string, string> = key ? { Authorization: `Bearer ${key}` } : {};
  const answer = await fetch(path, { headers, credentials: "omit", signal });
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

/// `?name=value` of what is not empty.
export function query(fields: Record<string, string | number | boolean | null | undefined>): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && value !== null && value !== "") text.set(name, String(value));
  const joined = text.toString().replaceAll("+", "%20");
  return joined ? `?${joined}` : "";
}

/// What to tell a person of anything that was thrown.
export function wordsOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
