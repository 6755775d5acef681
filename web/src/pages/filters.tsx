// The line of filters above a list.

import { signal, useSignal } from "@preact/signals";
import { destinations } from "../node";
import { filter, filters } from "../route";
import { Choice, Text } from "./fields";

export { Choice, Text };

export function DestinationText() {
  return (
    <>
      <Text name="destination" label="Destination" list="destinations" />
      <datalist id="destinations">
        {destinations.value.map((each) => (
          <option key={each.destination} value={each.destination} />
        ))}
      </datalist>
    </>
  );
}

const labels: Record<string, string> = {
  correlationId: "Correlation id",
  causationId: "Caused by",
  endpoint: "Endpoint",
  orderKey: "Order key",
  tenant: "Tenant",
  error: "Error has",
  messageId: "Message id",
};
const shown = signal<string[]>([]);

/// Filters that few need: a field for each that was chosen or is in the address.
export function MoreFilters({ names }: { names: string[] }) {
  const open = names.filter((name) => filters.value.has(name) || shown.value.includes(name));
  const rest = names.filter((name) => !open.includes(name));
  return (
    <>
      {open.map((name) => (
        <Text key={name} name={name} label={labels[name] ?? name} />
      ))}
      {rest.length > 0 && (
        <label>
          More
          <select
            value=""
            onChange={(event) => {
              shown.value = [...shown.value, event.currentTarget.value];
              event.currentTarget.value = "";
            }}
          >
            <option value="">filter by…</option>
            {rest.map((name) => (
              <option key={name} value={name}>
                {labels[name]}
              </option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}

const spans: Array<[string, string]> = [
  ["", "any time"],
  ["15m", "last 15 minutes"],
  ["1h", "last hour"],
  ["24h", "last 24 hours"],
  ["7d", "last 7 days"],
];
const between: [string, string] = ["between", "between…"];
const minutes: Record<string, number> = { "15m": 15, "1h": 60, "24h": 1440, "7d": 10080 };

function toIso(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, "Z");
}

/// When a span of the address began; an exact time passes through.
function since(text: string | null): string | undefined {
  if (!text) return undefined;
  const length = minutes[text];
  return length ? toIso(new Date(Date.now() - length * 60000)) : text;
}

export const timeNames = ["since", "until"];

/// The times of the address as the node takes them.
export function times(): { since?: string; until?: string } {
  const from = since(filters.value.get("since"));
  const until = filters.value.get("until");
  return { ...(from && { since: from }), ...(until && { until }) };
}

/// As a field of a time takes it: here, and not in UTC.
function toField(text: string | undefined): string {
  const at = new Date(text ?? "");
  if (isNaN(at.getTime())) return "";
  return toIso(new Date(at.getTime() - at.getTimezoneOffset() * 60000)).slice(0, -1);
}

function TimeField({ name, label, at }: { name: string; label: string; at: string | undefined }) {
  return (
    <label>
      {label}
      <input
        type="datetime-local"
        step="1"
        name={name}
        value={toField(at)}
        onChange={(event) => filter({ [name]: event.currentTarget.value && toIso(new Date(event.currentTarget.value)) })}
      />
    </label>
  );
}

/// A time up to now, or from one moment until before another.
export function When({ label }: { label: string }) {
  const isBetween = useSignal(false);
  const from = filters.value.get("since") ?? "";
  const asked = times();
  const isExact = isBetween.value || asked.until || (from && !minutes[from]);
  const choose = (span: string) => {
    isBetween.value = span === "between";
    filter({ since: isBetween.value ? (asked.since ?? "") : span, until: "" });
  };
  return (
    <>
      <label>
        {label}
        <select name="span" value={isExact ? "between" : from} onChange={(event) => choose(event.currentTarget.value)}>
          {[...spans, between].map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {isExact && (
        <>
          <TimeField name="since" label="From" at={asked.since} />
          <TimeField name="until" label="Until before" at={asked.until} />
        </>
      )}
    </>
  );
}
