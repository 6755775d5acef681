// Changes of dead letters: one, several, or all that fit a filter.

import { get, post, query, wordsOf } from "./api";
import { look } from "./node";
import type { DeadLetter, Groups, Page, Slice } from "./types";

export type Verb = "requeue" | "resolve";

export interface Change {
  verb: Verb;
  reason?: string; // Why it is resolved.
  newId?: boolean; // For what has expired: its id is not taken any more.
}

function bodyOf(change: Change): unknown {
  if (change.verb === "resolve") return { reason: change.reason };
  return change.newId ? { newId: true } : undefined;
}

/// The state is the one that was seen: if another person was faster, the node says who won.
export function changeOne(one: { messageId: string; state: string }, change: Change) {
  return post(`/_rf/dead/${one.messageId}/${change.verb}`, bodyOf(change), one.state);
}

export interface Progress {
  done: number;
  refused: string[]; // In words, some of them.
  expired: number;
  of: number;
  more: boolean; // `of` is a lower bound.
}

type Report = (progress: Progress) => boolean; // False to stop.

export async function changeSome(some: DeadLetter[], change: Change, report: Report) {
  const progress: Progress = { done: 0, refused: [], expired: 0, of: some.length, more: false };
  for (const one of some) {
    try {
      await changeOne(one, change);
      ++progress.done;
    } catch (thrown) {
      progress.refused.push(wordsOf(thrown));
    }
    if (!report({ ...progress })) break;
  }
  await look();
}

export type DeadFilter = Record<string, string>;

/// All that fit, a hundred at a time as the node gives them.
export async function changeAll(wanted: DeadFilter, of: Counted, change: Change, report: Report) {
  const narrowed = Object.keys(wanted).some((name) => name !== "status");
  const progress: Progress = { done: 0, refused: [], expired: 0, of: of.number, more: of.more };
  let after: number | null = null;
  do {
    const where: string = query({ ...wanted, all: narrowed ? undefined : true, after });
    const slice: Slice = await post<Slice>(`/_rf/dead/${change.verb}${where}`, bodyOf(change));
    progress.done += slice.changed;
    progress.expired += slice.expired;
    after = slice.next;
  } while (report({ ...progress }) && after !== null);
  await look();
}

export interface Counted {
  number: number;
  more: boolean; // There are more than were counted.
}

const pageRows = 1000;
const pagesMax = 10;

/// How many fit: from the groups where a cause is all that was asked for, otherwise by reading them.
export async function countAll(wanted: DeadFilter): Promise<Counted> {
  const names = Object.keys(wanted).filter((name) => name !== "status");
  if (names.join() === "cause" && (wanted["status"] ?? "Dead") === "Dead") {
    const told = await get<Groups>(`/_rf/dead/groups${query({ limit: pageRows })}`);
    const group = told.groups.find((each) => String(each.cause) === wanted["cause"]);
    if (group) return { number: group.count, more: false };
  }
  let number = 0;
  let before: number | null = null;
  for (let page = 0; page < pagesMax; ++page) {
    const got: Page<DeadLetter> = await get<Page<DeadLetter>>(
      `/_rf/dead${query({ ...wanted, limit: pageRows, before })}`,
    );
    number += got.messages.length;
    before = got.next;
    if (before === null) return { number, more: false };
  }
  return { number, more: true };
}
