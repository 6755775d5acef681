// What the node did over the last hours and days.

import { useSignal, type Signal } from "@preact/signals";
import { get, query } from "./api";
import { Chart, Numbers, type ChartProps } from "./chart";
import { count, duration, latency } from "./format";
import { useLoaded } from "./load";
import { filter, filters } from "./route";
import type { History } from "./types";
import { Dialog, Failure } from "./ui";

/// How often each is read anew: about as often as it has a new point.
const ranges = {
  "15m": { words: "15 minutes", everyMs: 5000 },
  "6h": { words: "6 hours", everyMs: 30000 },
  "7d": { words: "7 days", everyMs: 300000 },
} as const;
type Range = keyof typeof ranges;

function asRange(text: string | null): Range {
  return text === "6h" || text === "7d" ? text : "15m";
}

const rate = (value: number) => (value < 10 && value % 1 !== 0 ? value.toFixed(1) : count(Math.round(value)));
const age = (seconds: number) => duration(seconds * 1000);

function chartsOf(seen: History): ChartProps[] {
  const begin = Date.parse(seen.from) / 1000;
  const times = Array.from({ length: seen.points }, (_, i) => begin + i * seen.stepSeconds);
  const charts: ChartProps[] = [];
  if (seen.outbox) {
    const out = seen.outbox;
    charts.push(
      { title: "Sent per second", times, show: rate, series: [
        { label: "arrived", values: out.arrived, ink: "soft", dashed: true },
        { label: "sent", values: out.sent, ink: "ink" },
        { label: "failed", values: out.failed, ink: "red" },
      ] },
      { title: "Time to be answered", times, show: latency, series: [
        { label: "p50", values: out.p50Ms, ink: "ink" },
        { label: "p99", values: out.p99Ms, ink: "soft", dashed: true },
      ] },
      { title: "Waiting", times, show: rate, series: [{ label: "messages", values: out.waiting, ink: "ink" }] },
      { title: "Oldest that waits", times, show: age, series: [{ label: "age", values: out.oldestSeconds, ink: "ink" }] },
    );
  }
  if (seen.inbox)
    charts.push(
      { title: "Taken in per second", times, show: rate, series: [
        { label: "handled", values: seen.inbox.handled, ink: "ink" },
        { label: "duplicates", values: seen.inbox.duplicates, ink: "soft", dashed: true },
        { label: "failed", values: seen.inbox.failed, ink: "red" },
      ] },
      { title: "Time to handle", times, show: latency, series: [
        { label: "p50", values: seen.inbox.p50Ms, ink: "ink" },
        { label: "p99", values: seen.inbox.p99Ms, ink: "soft", dashed: true },
      ] },
    );
  return charts;
}

/// One line of the history: of what is sent there, or of what is taken in for it.
export type HistoryOf = { destination: string } | { endpoint: string };

function Charts({ range, of }: { range: Range; of?: HistoryOf }) {
  const read = useLoaded(() => get<History>(`/_rf/history${query({ range, ...of })}`), ranges[range].everyMs);
  const seen = read.value.value;
  const places = !of ? 6 : "destination" in of ? 4 : 2;
  if (!seen)
    return (
      <>
        <Failure why={read.failure.value} again={read.again} />
        <div class="charts" aria-hidden="true">
          {Array.from({ length: places }, (_, i) => (
            <div key={i} class="chart unread" />
          ))}
        </div>
        <Numbers charts={[]} />
      </>
    );
  const charts = chartsOf(seen);
  return (
    <>
      <Failure why={read.failure.value} again={read.again} />
      <div class="charts">
        {charts.map((each) => (
          <Chart key={each.title} {...each} />
        ))}
      </div>
      <Numbers charts={charts} />
    </>
  );
}

function Choice({ chosen, choose }: { chosen: Range; choose: (range: Range) => void }) {
  return (
    <div class="choice" role="group" aria-label="How far back">
      {(Object.keys(ranges) as Range[]).map((each) => (
        <button key={each} type="button" aria-pressed={each === chosen} onClick={() => choose(each)}>
          {ranges[each].words}
        </button>
      ))}
    </div>
  );
}

/// Of the whole node; how far back stands in the address.
export function NodeHistory() {
  const range = asRange(filters.value.get("range"));
  return (
    <section class="history" aria-labelledby="history">
      <div class="head">
        <h2 id="history">The last {ranges[range].words}</h2>
        <Choice chosen={range} choose={(next) => filter({ range: next === "15m" ? "" : next })} />
      </div>
      <Charts key={range} range={range} />
    </section>
  );
}

function DialogOf({ of, range }: { of: HistoryOf; range: Signal<Range> }) {
  return (
    <section class="history">
      <Choice chosen={range.value} choose={(next) => (range.value = next)} />
      <Charts key={range.value} range={range.value} of={of} />
    </section>
  );
}

export function HistoryDialog({ of, title, onClose }: { of: HistoryOf; title?: string; onClose: () => void }) {
  const range = useSignal<Range>("15m");
  return (
    <Dialog title={title ?? `History of '${"destination" in of ? of.destination : of.endpoint}'`} onClose={onClose} wide>
      <DialogOf of={of} range={range} />
      <div class="actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
