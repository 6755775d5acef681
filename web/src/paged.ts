// A list that is read in pages: the first page again and again, further ones when asked.

import { useSignal, useSignalEffect } from "@preact/signals";
import { filters } from "./address";
import { wordsOf } from "./answer";
import { useLoaded } from "./load";
import type { Page } from "./types";
import { tell } from "./ui";

export interface Paged<Row> {
  rows: Row[] | null; // Null until the first answer.
  next: number | null;
  failure: string;
  more: () => Promise<void>;
  again: () => void;
}

interface Told<Row> {
  next?: number | null;
  [name: string]: Row[] | number | null | undefined;
}

/// `path` gives the address of the page that follows a row, by the filters in the page's address;
/// `list` is the name of the rows in its answer, `ask` whom it is read from. For `soonMs`, see `useLoaded`.
export function usePagedOf<Row extends { seq: number }>(
  ask: <T>(path: string) => Promise<T>,
  path: (after: number | null) => string,
  list: string,
  soonMs = 0,
): Paged<Row> {
  const older = useSignal<Page<Row> | null>(null);
  const read = async (at: string): Promise<Page<Row>> => {
    const told = await ask<Told<Row>>(at);
    return { messages: told[list] as Row[], next: told.next ?? null };
  };
  const first = useLoaded(() => read(path(null)), 5000, soonMs);
  useSignalEffect(() => {
    void filters.value;
    older.value = null;
  });
  const page = first.value.value;
  const next = older.value ? older.value.next : (page?.next ?? null);
  const more = async () => {
    try {
      const got = await read(path(next));
      older.value = { messages: [...(older.value?.messages ?? []), ...got.messages], next: got.next };
    } catch (thrown) {
      tell(wordsOf(thrown), true);
    }
  };
  // What has changed since moves rows over the end of the first page; none is shown twice.
  const known = new Set(page?.messages.map((each) => each.seq));
  const rest = (older.value?.messages ?? []).filter((each) => !known.has(each.seq));
  return { rows: page && [...page.messages, ...rest], next, failure: first.failure.value, more, again: first.again };
}
