// Reads something now and again and again, while the page is looked at.

import { useComputed, useSignal, useSignalEffect, type ReadonlySignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { asking, wordsOf } from "./answer";
import { stamp } from "./stamp";

export interface Loaded<T> {
  value: ReadonlySignal<T | null>; // The last that was read, kept while it is read anew.
  failure: ReadonlySignal<string>; // Why the last reading failed; empty if it did not.
  again: () => void;
}

/// While nothing is written, what is shown is read so much more seldom: a change that the node has not
/// noticed, such as one of another process, is to be seen too.
const seldom = 5;

/// With `soonMs`, what is shown is what the databases hold: it is read again so soon after they were
/// written to, where the node tells of that, and as often as ever where it does not.
///
/// `read` depends on the signals that it reads before its first await; when one changes, what was
/// shown for another filter is taken away.
export function useLoaded<T>(read: () => Promise<T>, everyMs = 0, soonMs = 0): Loaded<T> {
  const value = useSignal<T | null>(null);
  const failure = useSignal("");
  const turn = useSignal(0);
  const latest = useSignal(0);
  const seen = useRef<{ at: number; stamp: number | null }>({ at: 0, stamp: null }); // By the last reading.

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
    seen.current = { at: performance.now(), stamp: stamp.peek() };
    void take(number, read());
  });

  useEffect(() => {
    if (!everyMs) return;
    const isDue = () => {
      const told = stamp.peek();
      if (!soonMs) return true;
      const waited = performance.now() - seen.current.at + soonMs / 2; // Timers come a little early or late.
      if (told === null) return waited >= everyMs;
      return told !== seen.current.stamp || waited >= everyMs * seldom;
    };
    const timer = setInterval(() => {
      if (!document.hidden && asking.peek() === null && isDue()) turn.value = turn.peek() + 1;
    }, soonMs || everyMs);
    return () => clearInterval(timer);
  }, [everyMs, soonMs]);

  return {
    value: useComputed(() => value.value),
    failure: useComputed(() => failure.value),
    again: () => (turn.value = turn.peek() + 1),
  };
}
