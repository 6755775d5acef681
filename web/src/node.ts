// What every page shows of the node: its light and its counts.

import { computed, signal } from "@preact/signals";
import { answering, asking, get, getText, listen } from "./api";
import { stamp } from "./stamp";
import type { Health, InboxStats, Lane, Stats } from "./types";

export interface Rates {
  sent: number;
  received: number;
}

export const health = signal<Health | null>(null);
export const stats = signal<Stats | null>(null);
export const lanes = signal<Lane[]>([]);
export const inbox = signal<InboxStats | null>(null);
/// How long handling takes, in milliseconds, since the node started; null before anything came.
export const handling = signal<{ half: number; most: number } | null>(null);
/// What the node answers, each as "GET /_rf/queue"; null until it has said so.
export const routes = signal<ReadonlySet<string> | null>(null);
/// One for each look since the page was opened, oldest first.
export const rates = signal<Rates[]>([]);

export const everyMs = 2000;
export const samplesMax = 60;

let last: { at: number; sent: number; received: number } | null = null;

function counter(metrics: string, name: string): number {
  const line = metrics.split("\n").find((each) => each.startsWith(`${name} `));
  return line ? Number(line.slice(name.length + 1)) : 0;
}

/// The bound below which a share of what a histogram counted lies; infinite past its last bound.
export function quantile(metrics: string, name: string, share: number): number | null {
  const buckets = [...metrics.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"\\} (\\d+)`, "gm"))];
  const all = Number(buckets.at(-1)?.[2] ?? 0);
  if (all === 0) return null;
  const found = buckets.find(([, , number]) => Number(number) >= all * share);
  return found?.[1] === "+Inf" ? Infinity : Number(found?.[1]);
}

function addHandling(metrics: string) {
  const [half, most] = [0.5, 0.99].map((share) => quantile(metrics, "rf_inbox_process_duration_ms", share));
  handling.value = half == null || most == null ? null : { half, most };
}

function addRatesOf(metrics: string) {
  addRates(counter(metrics, "posthorn_outbox_sent_total"), counter(metrics, "posthorn_inbox_processed_total"));
}

function addRates(sentSoFar: number, receivedSoFar: number) {
  const seen = { at: performance.now(), sent: sentSoFar, received: receivedSoFar };
  if (last && seen.at - last.at < everyMs * 0.9) return;
  const seconds = last ? (seen.at - last.at) / 1000 : 0;
  if (last && seconds > 0) {
    // A node that was started anew counts from zero again.
    const sent = Math.max(0, seen.sent - last.sent) / seconds;
    const received = Math.max(0, seen.received - last.received) / seconds;
    rates.value = [...rates.value.slice(1 - samplesMax), { sent, received }];
  }
  last = seen;
}

async function take<T>(into: { value: T }, reading: Promise<T>) {
  into.value = await reading;
}

async function readRoutes() {
  const told = await get<{ routes: string[] }>("/_rf");
  routes.value = new Set(told.routes);
}

/// Asks for all that the node would tell by itself.
export async function look() {
  await Promise.allSettled([
    take(health, get<Health | null>("/_rf/health")),
    take(stats, get<Stats | null>("/_rf/outbox/stats")),
    take(inbox, get<InboxStats | null>("/_rf/inbox/stats")),
    get<{ lanes: Lane[] }>("/_rf/outbox/lanes").then((told) => (lanes.value = told.lanes)),
    getText("/metrics").then((text) => {
      addRatesOf(text);
      addHandling(text);
    }),
  ]);
}

/// What the node tells of itself once a second.
interface Told {
  health: Health;
  stamp?: number;
  stats?: Stats;
  lanes?: Lane[];
  counters: { sent: number; processed: number; duplicates: number };
}

/// Whether the node tells by itself how it is, so that it need not be asked.
export const live = signal(false);
const inboxEveryMs = 10000;
let inboxReadAt = -Infinity;

function takeTold(data: string) {
  const told = JSON.parse(data) as Told;
  live.value = true;
  stamp.value = told.stamp ?? null;
  health.value = told.health;
  if (told.stats) stats.value = told.stats;
  if (told.lanes) lanes.value = told.lanes;
  addRates(told.counters.sent, told.counters.processed);
  // How many rows the inbox has is counted, which is too much for every second.
  if (performance.now() - inboxReadAt < inboxEveryMs) return;
  inboxReadAt = performance.now();
  get<InboxStats | null>("/_rf/inbox/stats").then((seen) => (inbox.value = seen), () => undefined);
  getText("/metrics").then(addHandling, () => undefined);
}

let listening: AbortController | null = null;

/// Listens; says whether the node has begun to tell.
function beginListening(): Promise<boolean> {
  const own = new AbortController();
  listening = own;
  return new Promise((resolve) => {
    const take = (data: string) => {
      takeTold(data);
      resolve(true);
    };
    const end = () => {
      listening = null;
      live.value = false;
      stamp.value = null;
      resolve(false);
    };
    listen("/_rf/live", take, own.signal).then(end, end);
  });
}

// A proxy that collects answers before it passes them on would keep the page waiting.
const patience = () => new Promise<false>((resolve) => setTimeout(() => resolve(false), everyMs));

let looking = false;

/// Listens to the node, and asks it where that does not work. A page that is hidden does neither.
/// What is told comes in one answer, so that the page's own list does not wait behind six.
export async function keepLooking() {
  const turn = async () => {
    // A node that was away may come back as another version.
    const isNew = routes.peek() === null || !answering.peek();
    if (looking || (live.peek() && !isNew) || document.hidden || asking.peek() !== null) return;
    looking = true;
    if (isNew) readRoutes().catch(() => undefined);
    const isTold = live.peek() || (!listening && (await Promise.race([beginListening(), patience()])));
    if (!isTold) await look();
    looking = false;
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) listening?.abort();
    else void turn();
  });
  await turn();
  setInterval(() => void turn(), everyMs);
}

/// A destination as all that is known of it tells.
export interface Destination extends Lane {
  pending: number;
  pendingAtLeast: boolean;
  oldestAgeMs?: number;
  undeliverable: number;
  unreachableSince?: string;
  parked: number; // Wait behind a message of their order key that was given up.
  parkedKeys: number;
  parkedBehind: string; // The first of those messages.
}

export const destinations = computed<Destination[]>(() => {
  const all = new Map<string, Destination>();
  const find = (destination: string, state = "idle") => {
    let one = all.get(destination);
    if (!one) {
      one = {
        destination,
        state,
        pending: 0,
        pendingAtLeast: false,
        undeliverable: 0,
        parked: 0,
        parkedKeys: 0,
        parkedBehind: "",
      };
      all.set(destination, one);
    }
    return one;
  };
  for (const lane of lanes.value) Object.assign(find(lane.destination), lane);
  for (const backlog of stats.value?.backlog ?? []) {
    const one = find(backlog.destination);
    one.pending = backlog.pending;
    one.pendingAtLeast = backlog.pendingAtLeast ?? false;
    one.oldestAgeMs = backlog.oldestAgeMs;
    one.undeliverable = backlog.undeliverable ?? 0;
  }
  for (const key of stats.value?.blocked?.keys ?? []) {
    const one = find(key.destination);
    one.parked += key.waiting;
    ++one.parkedKeys;
    one.parkedBehind ||= key.behind.messageId;
  }
  for (const peer of stats.value?.peers ?? [])
    if (!peer.reachable) find(peer.destination).unreachableSince = peer.since;
  return [...all.values()].sort((a, b) => b.pending - a.pending || a.destination.localeCompare(b.destination));
});

/// Since when nothing goes there, as far as that is known.
export function sinceOf(one: Destination): string | undefined {
  return one.pausedSince ?? one.since ?? one.unreachableSince;
}

/// Why nothing goes there, in words; empty if all is well.
export function whyOf(one: Destination): string {
  if (one.pausedSince) return one.reason ? `paused: ${one.reason}` : "paused by an operator";
  if (one.cause) return one.cause;
  if (one.undeliverable > 0) return "no route, no secret or no handler for some; see its messages";
  if (one.state === "no_route") return "no route in the configuration";
  if (one.state === "throttled") return "asked to be sent less";
  if (one.unreachableSince || one.state === "open" || one.state === "probing")
    return "no answer; one message is tried from time to time";
  return "";
}
