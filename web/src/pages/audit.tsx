import { useSignal } from "@preact/signals";
import { get, query } from "../api";
import { save, toCsv } from "../export";
import { count, plural } from "../format";
import { Listing } from "../listing";
import type { DeskPage } from "../page";
import { usePaged } from "../node_paged";
import { filters } from "../route";
import type { AuditEntry } from "../types";
import { attempt, Empty, Time } from "../ui";
import { Choice, Text, timeNames, times, When } from "./filters";

const names = ["who", "target", "outcome", ...timeNames];
const columns: Array<keyof AuditEntry> = ["seq", "at", "who", "what", "target", "outcome"];

function asked(before: number | null, limit = 50): string {
  const { value } = filters;
  return `/_rf/audit${query({
    who: value.get("who"),
    target: value.get("target"),
    outcome: value.get("outcome"),
    ...times(),
    limit,
    before,
  })}`;
}

function outcomeLight(outcome: string): string {
  if (outcome === "done") return "";
  return /^40\d|^answered [45]|^failed/.test(outcome) ? "yellow" : "";
}

function Row({ one }: { one: AuditEntry }) {
  return (
    <tr data-row tabIndex={-1}>
      <td class="number">
        <Time at={one.at} />
      </td>
      <td class="clip" title={one.who}>
        {one.who}
      </td>
      <td>{one.what}</td>
      <td class="clip" title={one.target}>
        {one.target}
      </td>
      <td class="wide clip" title={one.outcome}>
        <span class={`mark ${outcomeLight(one.outcome)}`}>{one.outcome}</span>
      </td>
    </tr>
  );
}

/// All that fit, by the pages that the node gives.
async function readAll(onRead: (rows: number) => void): Promise<AuditEntry[]> {
  const all: AuditEntry[] = [];
  let before: number | null = null;
  do {
    const page: { entries: AuditEntry[]; next: number | null } = await get(asked(before, 1000));
    all.push(...page.entries);
    onRead(all.length);
    before = page.next;
  } while (before !== null);
  return all;
}

function Export() {
  const read = useSignal<number | null>(null);
  const run = (kind: "json" | "csv") =>
    attempt(async () => {
      read.value = 0;
      try {
        const rows = await readAll((number) => (read.value = number));
        const text = kind === "csv" ? toCsv(columns, rows) : `${JSON.stringify(rows, null, 2)}\n`;
        save(`posthorn-audit.${kind}`, kind === "csv" ? "text/csv" : "application/json", text);
        return `${plural(rows.length, "entry", "entries")} saved.`;
      } finally {
        read.value = null;
      }
    });
  const busy = read.value !== null;
  return (
    <div class="chosen-bar">
      <span class="quiet">{busy ? `${count(read.value ?? 0)} read…` : "All of this filter:"}</span>
      <button type="button" disabled={busy} onClick={() => run("csv")}>
        Save as CSV
      </button>
      <button type="button" disabled={busy} onClick={() => run("json")}>
        Save as JSON
      </button>
    </div>
  );
}

function Audit() {
  const page = usePaged<AuditEntry>((before) => asked(before), "entries");
  const narrowed = names.some((name) => filters.value.has(name));
  return (
    <section>
      <h1>Audit</h1>
      <div class="filters">
        <Text name="who" label="Who" placeholder="anyone" />
        <Text name="target" label="On what" placeholder="any path" />
        <Choice
          name="outcome"
          label="Outcome"
          options={[["", "any"], ["done", "done"], ["answered", "not done"], ["40", "refused"], ["failed", "failed"]]}
        />
        <When label="Since" />
      </div>
      <Listing
        from={page}
        empty={
          <Empty title={narrowed ? "Nothing fits these filters" : "Nothing was changed or refused yet"}>
            <p>
              Every change through this page, the command line with <code>--url</code> or the admin API is kept here
              with the name of the key, and so is who was refused. {narrowed && <a href="/desk/audit">Show all</a>}
            </p>
          </Empty>
          }
        above={<Export />}
        heads={[{ text: "When", as: "number" }, "Who", "What", "On what", { text: "Outcome", as: "wide" }]}
        row={(each) => <Row key={each.seq} one={each} />}
      />
    </section>
  );
}

export const audit: DeskPage = { name: "audit", title: "Audit", needs: "GET /_rf/audit", show: () => <Audit /> };
