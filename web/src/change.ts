// Changes of dead letters: one, several, or all that fit a filter.

import { get, post, query, wordsOf } from "./api";
import { look } from "./node";
import type { DeadLetter, Groups, Page, Slice } from "./types";

export type Verb = "requeue" | "resolve" | "discard" | "reopen";

export interface Change {
  verb: Verb;
  reason?: string; // Why it is resolved or discarded.
  newId?: boolean; // For what has expired: its id is not taken any more.
  expiresInMs?: number; // With a new id: how long it may take; as long as it had at first if not told.
}

/// Discarding is resolving with a reason that says so: it can be undone until retention ends.
function routeOf(change: Change): string {
  return change.verb === "discard" ? "resolve" : change.verb;
}

/// The sign makes out which were discarded together, for an undo.
export function discardReason(why: string): string {
  const sign = crypto.getRandomValues(new Uint32Array(1))[0]!.toString(16).padStart(8, "0");
  return `discarded (${sign})${why && `: ${why}`}`;
}

function bodyOf(change: Change): unknown {
  if (change.verb === "resolve" || change.verb === "discard") return { reason: change.reason };
  return change.newId ? { newId: true, expiresInMs: change.expiresInMs } : undefined;
}

/// A message and the state in which it was seen.
export interface Seen {
  messageId: string;
  state: string;
}

/// The state is the one that was seen: if another person was faster, the node says who won. Gives the
/// message as it is then.
export function changeOne(one: Seen, change: Change): Promise<Seen> {
  return post<Seen>(`/_rf/dead/${one.messageId}/${routeOf(change)}`, bodyOf(change), one.state);
}

export interface Progress {
  done: number;
  refused: string[]; // In words, some of them.
  expired: number;
  of: number;
  more: boolean; // `of` is a lower bound.
}

type Report = (progress: Progress) => boolean; // False to stop.

/// Gives those that were changed, as they are then.
export async function changeSome(some: Seen[], change: Change, report: Report): Promise<Seen[]> {
  const changed: Seen[] = [];
  const progress: Progress = { done: 0, refused: [], expired: 0, of: some.length, more: false };
  for (const one of some) {
    try {
      changed.push(await changeOne(one, change));
      ++progress.done;
    } catch (thrown) {
      progress.refused.push(wordsOf(thrown));
    }
    if (!report({ ...progress })) break;
  }
  await look();
  return changed;
}

export type DeadFilter = Record<string, string>;

/// All that fit, a hundred at a time as the node gives them.
export async function changeAll(wanted: DeadFilter, of: Counted, change: Change, report: Report) {
  const narrowed = Object.keys(wanted).some((name) => name !== "status");
  const progress: Progress = { done: 0, refused: [], expired: 0, of: of.number, more: of.more };
  let after: number | null = null;
  do {
    const where: string = query({ ...wanted, all: narrowed ? undefined : true, after });
    const slice: Slice = await post<Slice>(`/_rf/dead/${routeOf(change)}${where}`, bodyOf(change));
    progress.done += slice.changed;
    progress.expired += slice.expired;
    after = slice.next;
  } while (report({ ...progress }) && after !== null);
  await look();
}

/// Reopens what was discarded with this reason, however many they were.
export async function undoDiscard(reason: string, report: Report) {
  const dayMs = 86400000; // The clocks of this machine and the node's may differ.
  const since = new Date(Date.now() - dayMs).toISOString().replace(/\.\d+Z$/, "Z");
  const found: DeadLetter[] = [];
  let before: number | null = null;
  do {
    const page: Page<DeadLetter> = await get<Page<DeadLetter>>(
      `/_rf/dead${query({ status: "Resolved", since, limit: pageRows, before })}`,
    );
    found.push(...page.messages.filter((each) => each.resolution === reason));
    before = page.next;
  } while (before !== null);
  await changeSome(found, { verb: "reopen" }, report);
}

/// What fits a filter, as far as it was looked at.
export interface Counted {
  number: number;
  more: boolean; // There are more than were counted.
  destinations: Map<string, number>;
  orderKeys: Set<string>; // Of `destination` and key, as `keyName` says.
}

export function keyName(one: { destination: string; orderKey?: string; tenant?: string }): string {
  return JSON.stringify([one.destination, one.tenant ?? "", one.orderKey ?? ""]);
}

export function countSome(some: DeadLetter[]): Counted {
  const seen: Counted = { number: some.length, more: false, destinations: new Map(), orderKeys: new Set() };
  for (const one of some) {
    seen.destinations.set(one.destination, (seen.destinations.get(one.destination) ?? 0) + 1);
    if (one.orderKey) seen.orderKeys.add(keyName(one));
  }
  return seen;
}

const pageRows = 1000;
const pagesMax = 10;

/// How many fit, and where they go, by reading them; the number of a cause is known beyond that.
export async function countAll(wanted: DeadFilter): Promise<Counted> {
  const rows: DeadLetter[] = [];
  let before: number | null = null;
  for (let page = 0; page < pagesMax && (page === 0 || before !== null); ++page) {
    const got: Page<DeadLetter> = await get<Page<DeadLetter>>(
      `/_rf/dead${query({ ...wanted, limit: pageRows, before })}`,
    );
    rows.push(...got.messages);
    before = got.next;
  }
  const seen = { ...countSome(rows), more: before !== null };
  const names = Object.keys(wanted).filter((name) => name !== "status");
  if (!seen.more || names.join() !== "cause") return seen;
  const told = await get<Groups>(`/_rf/dead/groups${query({ limit: pageRows })}`);
  const group = told.groups.find((each) => String(each.cause) === wanted["cause"]);
  return group ? { ...seen, number: group.count, more: false } : seen;
}
