import { useSignal } from "@preact/signals";
import { get, query } from "../api";
import { count, plural, shortId } from "../format";
import { useLoaded } from "../load";
import { stats } from "../node";
import type { DeskPage } from "../page";
import { usePaged } from "../node_paged";
import { filter, filters, messageLink } from "../route";
import type { DeadFilter } from "../change";
import type { DeadLetter, Group, Groups } from "../types";
import { Empty, Failure, More, Time, Waiting } from "../ui";
import { ChangeDialog, type Plan } from "./change_dialog";
import { Choice, DestinationText, MoreFilters, Text, timeNames, times, When } from "./filters";

const extra = ["correlationId", "causationId", "orderKey", "tenant"];
const names = ["status", "destination", "endpoint", "cause", "error", ...extra];

/// The filter of the address as the node takes it.
function wanted(): DeadFilter {
  const chosen: DeadFilter = {};
  for (const name of names) {
    const value = filters.value.get(name);
    if (value) chosen[name] = value;
  }
  return { ...chosen, ...times() };
}

function GroupRow({ one }: { one: Group }) {
  const chosen = filters.value.get("cause") === String(one.cause);
  return (
    <li>
      <button
        type="button"
        class={chosen ? "cause chosen" : "cause"}
        aria-pressed={chosen}
        onClick={() => filter({ cause: chosen ? "" : String(one.cause), status: "" })}
      >
        <strong class="number">{count(one.count)}</strong>
        <span class="what">
          <span class="text">{one.text}</span>
          <span class="quiet">
            {one.destination} · {one.endpoint}
          </span>
        </span>
        <span class="quiet number">
          since <Time at={one.firstAt} />, last <Time at={one.lastAt} />
        </span>
      </button>
    </li>
  );
}

function Causes({ told }: { told: Groups | null }) {
  if (!told || told.groups.length === 0) return null;
  return (
    <section aria-label="By cause">
      <h2>By cause</h2>
      <ul class="causes">
        {told.groups.map((each) => (
          <GroupRow key={each.cause} one={each} />
        ))}
      </ul>
      {told.ungrouped !== undefined && <p class="quiet">{plural(told.ungrouped, "message")} not sorted yet.</p>}
      {told.more && <p class="quiet">There are more causes, each with fewer messages.</p>}
    </section>
  );
}

function Row(props: { one: DeadLetter; selected: boolean; onSelect: () => void }) {
  const { one } = props;
  return (
    <tr data-row tabIndex={-1} aria-selected={props.selected}>
      <td class="tick">
        <input
          type="checkbox"
          aria-label={`Select ${one.messageId}`}
          checked={props.selected}
          onChange={props.onSelect}
        />
      </td>
      <td class="id">
        <a href={messageLink(one.messageId)} title={one.messageId}>
          {shortId(one.messageId)}
        </a>
      </td>
      <td class="clip">{one.destination}</td>
      <td class="clip">{one.endpoint}</td>
      <td class="wide clip" title={one.resolution ?? one.lastError}>
        {one.resolution ?? one.lastError ?? ""}
      </td>
      <td class="number">
        <Time at={one.closedAt ?? one.lastAttemptAt} />
      </td>
    </tr>
  );
}

function NoDead({ status, narrowed }: { status: string; narrowed: boolean }) {
  if (narrowed)
    return (
      <Empty title="None fits these filters">
        <p>
          <a href="/desk/dead">Show all dead letters</a>
        </p>
      </Empty>
    );
  return (
    <Empty title={status === "Dead" ? "No dead letters" : `Nothing is ${status.toLowerCase()}`}>
      <p>
        A message dies when a receiver refuses it for good or its attempts are used up; a destination that is
        down kills none. It is kept here with every error until you requeue or resolve it.
      </p>
    </Empty>
  );
}

function Dead() {
  const selected = useSignal<ReadonlySet<string>>(new Set());
  const plan = useSignal<Plan | null>(null);
  const causes = useLoaded(
    () => get<Groups>(`/_rf/dead/groups${query({ destination: filters.value.get("destination"), limit: 20 })}`),
    5000,
    2000,
  );
  const { rows, next, failure, more, again } = usePaged<DeadLetter>(
    (before) => `/_rf/dead${query({ ...wanted(), limit: 50, before })}`,
    "messages",
    2000,
  );
  const status = filters.value.get("status") ?? "Dead";
  const chosen = (rows ?? []).filter((each) => selected.value.has(each.messageId));
  const select = (id: string) => {
    const ids = new Set(selected.value);
    if (!ids.delete(id)) ids.add(id);
    selected.value = ids;
  };
  const selectAll = (all: boolean) =>
    (selected.value = new Set(all ? (rows ?? []).map((each) => each.messageId) : []));
  const open = (verb: Plan["verb"]) =>
    (plan.value = { verb, wanted: wanted(), some: chosen.length > 0 ? chosen : undefined });
  const close = (changed: boolean) => {
    plan.value = null;
    if (!changed) return;
    selected.value = new Set();
    again();
    causes.again();
  };
  const narrowed = [...names, ...timeNames].some((name) => name !== "status" && filters.value.has(name));
  const whom = chosen.length > 0 ? count(chosen.length) : narrowed ? "all of this filter" : "all";
  return (
    <>
      <h1>Dead letters</h1>
      {status === "Dead" && <Causes told={causes.value.value} />}
      <section>
        <div class="filters">
          <Choice name="status" label="Status" options={[["", "Dead"], ["Expired", "Expired"], ["Resolved", "Resolved"]]} />
          <DestinationText />
          <Text name="endpoint" label="Endpoint" />
          <Text name="error" label="Error contains" placeholder="any text" />
          <MoreFilters names={extra} />
          <When label="Given up" />
          {filters.value.has("cause") && (
            <button type="button" onClick={() => filter({ cause: "" })}>
              Cause {filters.value.get("cause")} ×
            </button>
          )}
        </div>
        <Failure why={failure} again={again} />
        {!rows && !failure && <Waiting />}
        {rows?.length === 0 && next === null && <NoDead status={status} narrowed={narrowed} />}
        {rows && rows.length > 0 && (
          <>
            <div class="chosen-bar">
              <span class="quiet">{chosen.length > 0 ? `${count(chosen.length)} selected` : "None selected"}</span>
              {status !== "Resolved" && (
                <>
                  <button type="button" onClick={() => open("requeue")}>
                    Requeue {whom}…
                  </button>
                  <button type="button" onClick={() => open("resolve")}>
                    Resolve {whom}…
                  </button>
                  <button type="button" onClick={() => open("discard")}>
                    Discard {whom}…
                  </button>
                </>
              )}
              {status === "Resolved" && (
                <button type="button" onClick={() => open("reopen")}>
                  Reopen {whom}…
                </button>
              )}
            </div>
            <div class="scroll">
              <table class="list">
                <thead>
                  <tr>
                    <th class="tick">
                      <input
                        type="checkbox"
                        aria-label="Select all shown"
                        checked={chosen.length === rows.length}
                        onChange={(event) => selectAll(event.currentTarget.checked)}
                      />
                    </th>
                    <th>Message</th>
                    <th>Destination</th>
                    <th>Endpoint</th>
                    <th class="wide">{status === "Resolved" ? "Resolution" : "Error"}</th>
                    <th class="number">{status === "Resolved" ? "Closed" : "Given up"}</th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map((each) => (
                    <Row
                      key={each.messageId}
                      one={each}
                      selected={selected.value.has(each.messageId)}
                      onSelect={() => select(each.messageId)}
                    />
                  ))}
                </tbody>
              </table>
            </div>
          </>
        )}
        <More next={next} onMore={more} />
      </section>
      {plan.value && <ChangeDialog plan={plan.value} onClose={close} />}
    </>
  );
}

export const dead: DeskPage = {
  name: "dead",
  title: "Dead letters",
  show: () => <Dead />,
  bubble: () => (stats.value?.failed ? count(stats.value.failed, stats.value.failedAtLeast) : ""),
};
