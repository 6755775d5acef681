// Lines over time. What a line means is told by its name and its dashes too, not by colour alone;
// the numbers are there as text for those who do not see the picture.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { shownTheme } from "./theme";

export interface Series {
  label: string;
  values: Array<number | null>;
  ink: "ink" | "soft" | "red" | "yellow";
  dashed?: boolean;
}

export interface ChartProps {
  title: string;
  times: number[]; // Seconds since 1970.
  series: Series[];
  show: (value: number) => string;
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const dayS = 86400;

/// Marks of one line: the time of the day, or the day where the chart spans several.
function marksOf(times: number[]): (marks: number[]) => string[] {
  const spansDays = (times.at(-1) ?? 0) - (times[0] ?? 0) > 2 * dayS;
  const shown = new Intl.DateTimeFormat(
    undefined,
    spansDays ? { day: "numeric", month: "short" } : { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  );
  return (marks) => marks.map((each) => shown.format(each * 1000));
}

function optionsOf(props: ChartProps, width: number, height: number): uPlot.Options {
  const marks = marksOf(props.times);
  const axis = {
    stroke: () => colour("soft"),
    grid: { stroke: () => colour("line"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
  };
  return {
    width,
    height,
    legend: { show: false },
    padding: [8, 20, 0, 0],
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false }, sync: { key: "history" } },
    // A line of zeros lies at the bottom, not in the middle.
    scales: { y: { range: (_self, _low, high) => [0, Math.max(high * 1.1, 1)] } },
    axes: [
      { ...axis, space: 64, size: 24, values: (_self, at) => marks(at) },
      { ...axis, space: 28, size: 56, values: (_self, marks) => marks.map(props.show) },
    ],
    series: [
      {},
      ...props.series.map((each) => ({
        label: each.label,
        stroke: () => colour(each.ink),
        width: 1.5,
        ...(each.dashed ? { dash: [4, 3] } : {}),
        points: { show: false },
      })),
    ],
  };
}

function latest(series: Series): number | null {
  for (let i = series.values.length - 1; i >= 0; --i) {
    const value = series.values[i];
    if (value != null) return value;
  }
  return null;
}

function highest(series: Series): number | null {
  let most: number | null = null;
  for (const each of series.values) if (each !== null && (most === null || each > most)) most = each;
  return most;
}

function inWords(value: number | null, show: (value: number) => string): string {
  return value === null ? "–" : show(value);
}

/// What the picture tells, for those who hear it.
function described(props: ChartProps): string {
  const parts = props.series.map(
    (each) =>
      `${each.label}: ${inWords(latest(each), props.show)} at the end, at most ${inWords(highest(each), props.show)}`,
  );
  return `${props.title}. ${parts.join("; ")}.`;
}

const heightPx = 152;

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data = [props.times, ...props.series.map((each) => each.values)] as uPlot.AlignedData;

  useEffect(() => {
    const into = box.current;
    if (!into) return;
    const made = new uPlot(optionsOf(props, into.clientWidth, heightPx), data, into);
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: into.clientWidth, height: heightPx }));
    watch.observe(into);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, []);
  useEffect(() => plot.current?.setData(data));
  // The colours are asked for anew when it is drawn.
  const theme = shownTheme.value;
  useEffect(() => plot.current?.redraw(false, true), [theme]);

  return (
    <figure class="chart">
      <figcaption>
        <h3>{props.title}</h3>
        <ul>
          {props.series.map((each) => (
            <li key={each.label}>
              <svg class={`key ${each.ink}`} viewBox="0 0 16 4" aria-hidden="true">
                <path d="M0 2H16" {...(each.dashed ? { "stroke-dasharray": "4 3" } : {})} />
              </svg>
              {each.label} <strong>{inWords(latest(each), props.show)}</strong>
            </li>
          ))}
        </ul>
      </figcaption>
      <div class="plot" ref={box} role="img" aria-label={described(props)} />
    </figure>
  );
}

/// The same as numbers: so many rows, each the last value of its part of the time.
export function Numbers({ charts, rows = 15 }: { charts: ChartProps[]; rows?: number }) {
  const times = charts[0]?.times ?? [];
  const part = Math.max(1, Math.floor(times.length / rows));
  const picked = times.map((_, i) => i).filter((i) => (i + 1) % part === 0);
  return (
    <details class="numbers">
      <summary>As numbers</summary>
      <div class="scroll" role="region" aria-label="As numbers" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>Time</th>
              {charts.flatMap((chart) =>
                chart.series.map((each) => (
                  <th class="number" key={chart.title + each.label}>
                    {chart.title}: {each.label}
                  </th>
                )),
              )}
            </tr>
          </thead>
          <tbody>
            {picked.reverse().map((i) => (
              <tr key={i}>
                <td>{new Date(times[i]! * 1000).toLocaleString()}</td>
                {charts.flatMap((chart) =>
                  chart.series.map((each) => (
                    <td class="number" key={chart.title + each.label} data-label={`${chart.title}: ${each.label}`}>
                      {inWords(each.values[i] ?? null, chart.show)}
                    </td>
                  )),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
