// Reads something now and again and again, while the page is looked at.

import { useComputed, useSignal, useSignalEffect, type ReadonlySignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { asking, wordsOf } from "./answer";

export interface Loaded<T> {
  value: ReadonlySignal<T | null>; // The last that was read, kept while it is read anew.
  failure: ReadonlySignal<string>; // Why the last reading failed; empty if it did not.
  again: () => void;
}

/// `read` depends on the signals that it reads before its first await; when one changes, what was
/// shown for another filter is taken away.
export function useLoaded<T>(read: () => Promise<T>, everyMs = 0): Loaded<T> {
  const value = useSignal<T | null>(null);
  const failure = useSignal("");
  const turn = useSignal(0);
  const latest = useSignal(0);

  const take = (number: number, reading: Promise<T>) =>
    reading.then(
      (found) => {
        if (number !== latest.peek()) return; // Another filter was chosen meanwhile.
        value.value = found;
        failure.value = "";
      },
      (thrown: unknown) => {
        if (number === latest.peek()) failure.value = wordsOf(thrown);
      },
    );

  useSignalEffect(() => {
    void turn.value;
    const number = latest.peek() + 1;
    latest.value = number;
    void take(number, read());
  });

  useEffect(() => {
    if (!everyMs) return;
    const timer = setInterval(() => {
      if (!document.hidden && asking.peek() === null) turn.value = turn.peek() + 1;
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);

  return {
    value: useComputed(() => value.value),
    failure: useComputed(() => failure.value),
    again: () => (turn.value = turn.peek() + 1),
  };
}
