// The line of filters above a list; what it says is what the address says.

import { signal } from "@preact/signals";
import { destinations } from "../node";
import { filter, filters } from "../route";

export function Choice(props: { name: string; label: string; options: Array<[value: string, text: string]> }) {
  return (
    <label>
      {props.label}
      <select
        name={props.name}
        value={filters.value.get(props.name) ?? ""}
        onChange={(event) => filter({ [props.name]: event.currentTarget.value })}
      >
        {props.options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Text(props: { name: string; label: string; placeholder?: string; list?: string }) {
  return (
    <label>
      {props.label}
      <input
        name={props.name}
        value={filters.value.get(props.name) ?? ""}
        placeholder={props.placeholder ?? "any"}
        list={props.list}
        onChange={(event) => filter({ [props.name]: event.currentTarget.value.trim() })}
      />
    </label>
  );
}

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
/// From when on; an exact time that a link brought is an option of its own.
export function Since({ label }: { label: string }) {
  const chosen = filters.value.get("since");
  const isExact = chosen && !spans.some(([value]) => value === chosen);
  const options = isExact ? [...spans, [chosen, chosen] as [string, string]] : spans;
  return <Choice name="since" label={label} options={options} />;
}

const minutes: Record<string, number> = { "15m": 15, "1h": 60, "24h": 1440, "7d": 10080 };

/// When a span of the address began; an exact time passes through.
export function since(text: string | null): string | undefined {
  if (!text) return undefined;
  const length = minutes[text];
  return length ? new Date(Date.now() - length * 60000).toISOString().replace(/\.\d+Z$/, "Z") : text;
}
