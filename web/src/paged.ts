// A list that is read in pages, newest first: the first page again and again, older ones when asked.

import { useSignal, useSignalEffect } from "@preact/signals";
import { get, wordsOf } from "./api";
import { useLoaded } from "./load";
import { filters } from "./route";
import type { Page } from "./types";
import { tell } from "./ui";

export interface Paged<Row> {
  rows: Row[] | null; // Null until the first answer.
  next: number | null;
  failure: string;
  more: () => Promise<void>;
  again: () => void;
}

/// `path` gives the address of the page before a row, by the filters in the desk's address.
export function usePaged<Row extends { seq: number }>(path: (before: number | null) => string): Paged<Row> {
  const older = useSignal<Page<Row> | null>(null);
  const first = useLoaded(() => get<Page<Row>>(path(null)), 5000);
  useSignalEffect(() => {
    void filters.value;
    older.value = null;
  });
  const page = first.value.value;
  const next = older.value ? older.value.next : (page?.next ?? null);
  const more = async () => {
    try {
      const got = await get<Page<Row>>(path(next));
      older.value = { messages: [...(older.value?.messages ?? []), ...got.messages], next: got.next };
    } catch (thrown) {
      tell(wordsOf(thrown), true);
    }
  };
  // Rows that have come in since push those at the end of the first page out of it.
  const last = page?.messages.at(-1)?.seq ?? Infinity;
  const rest = (older.value?.messages ?? []).filter((each) => each.seq < last);
  return { rows: page && [...page.messages, ...rest], next, failure: first.failure.value, more, again: first.again };
}
