import { useSignal } from "@preact/signals";
import { get, post } from "../api";
import { bytes, count, duration } from "../format";
import type { HeldStatus, HeldWork, TrackedAttempt, TrackedOperation } from "../forward_types";
import { NotShown, Table } from "../listing";
import { useLoaded } from "../load";
import { look } from "../node";
import { attempt, CopyButton, FactList, FormDialog, Time } from "../ui";

export function HeldMark({ status }: { status: HeldStatus }) {
  return <span class={`mark ${status === "parked" ? "red" : ""}`}>{status}</span>;
}

export function heldLink(id: string): string {
  return `/desk/forward/${encodeURIComponent(id)}`;
}

function heldPath(id: string, verb = ""): string {
  return `/_rf/forward/messages/${encodeURIComponent(id)}${verb && `/${verb}`}`;
}

/// Lets what is parked be tried again.
export function retryHeld(id: string): Promise<unknown> {
  return post(heldPath(id, "retry"));
}

/// Asks before what is parked is given up for good.
export function DiscardDialog(props: { id: string; at?: string; discard: () => Promise<unknown>; onClose: () => void }) {
  const run = async () => {
    await props.discard();
    props.onClose();
  };
  return (
    <FormDialog title="Discard the operation" verb="Discard" onSubmit={run} onClose={props.onClose}>
      <p class="whole">
        <strong>{props.id}</strong> is not delivered any more{props.at && `, by ${props.at}`}. This cannot be undone.
      </p>
    </FormDialog>
  );
}

const trackingLight: Record<string, string> = { Parked: "red", Failed: "red", Discarded: "yellow", Retrying: "yellow" };

function TrackingMark({ status }: { status: string }) {
  return <span class={`mark ${trackingLight[status] ?? ""}`}>{status}</span>;
}

interface Known {
  held: HeldWork | null;
  tracked: TrackedOperation | null;
}

/// What is known under this id: what is held is gone once it was delivered, what is tracked stays.
async function readKnown(id: string): Promise<Known> {
  const [held, tracked] = await Promise.allSettled([
    get<HeldWork>(heldPath(id)),
    get<TrackedOperation>(`/_rf/forward/tracking/${encodeURIComponent(id)}`),
  ]);
  if (held.status === "rejected" && tracked.status === "rejected") throw held.reason;
  return {
    held: held.status === "fulfilled" ? held.value : null,
    tracked: tracked.status === "fulfilled" ? tracked.value : null,
  };
}

function Why({ held, tracked }: Known) {
  if (held?.status === "parked")
    return (
      <p>
        It was given up after {count(held.retryCount)} {held.retryCount === 1 ? "retry" : "retries"}. Nothing is tried
        until you retry it; discard it if it must not arrive any more.
      </p>
    );
  if (held)
    return (
      <p>
        It waits for its target, which is tried again every {duration(held.retryIntervalMs)}
        {held.maxRetries === 0 ? " for ever." : `; it is parked after ${count(held.maxRetries)} retries.`}
      </p>
    );
  return (
    <p>
      Nothing is held under this id any more. It ended as <strong>{tracked?.status}</strong>{" "}
      <Time at={tracked?.endedAt ?? tracked?.updatedAt} />.
    </p>
  );
}

function HeldFacts({ one }: { one: HeldWork }) {
  return (
    <FactList
      facts={[
        ["Category", <a href={`/desk/forward?category=${encodeURIComponent(one.category)}`}>{one.category}</a>],
        ["Target", <span class="whole">{one.target}</span>],
        ["Stored", <Time at={one.createdAt} />],
        ["Last attempt", one.lastAttemptAt && <Time at={one.lastAttemptAt} />],
        ["Retries", `${count(one.retryCount)} of ${one.maxRetries === 0 ? "no limit" : count(one.maxRetries)}`],
        ["Size", bytes(one.bytes)],
        ["Of instance", one.originInstance],
        ["Script", one.sourceScript],
        ["Execution", one.executionId],
        ["Parent execution", one.parentExecutionId],
      ]}
    />
  );
}

function Tracked({ one }: { one: TrackedOperation }) {
  return (
    <section aria-label="Tracking">
      <h2>Tracking</h2>
      <FactList
        facts={[
          ["Status", <TrackingMark status={one.status} />],
          ["Kind", one.kind],
          ["Target", <span class="whole">{one.target}</span>],
          ["Retries", count(one.retryCount)],
          ["HTTP status", one.httpStatus && String(one.httpStatus)],
          ["Error", one.lastError],
          ["Began", <Time at={one.createdAt} />],
          ["Ended", one.endedAt && <Time at={one.endedAt} />],
          ["Of instance", one.sourceInstance],
          ["Script", one.sourceScript],
          ["Node", one.sourceNode],
        ]}
      />
    </section>
  );
}

/// What was written down of each attempt, the latest first.
function Attempts({ id }: { id: string }) {
  const read = useLoaded(
    () => get<{ attempts: TrackedAttempt[] }>(`/_rf/forward/tracking/${encodeURIComponent(id)}/attempts`),
    3000,
  );
  const all = read.value.value?.attempts ?? [];
  if (all.length === 0) return <></>;
  return (
    <section aria-label="Attempts">
      <h2>Attempts</h2>
      <Table
        heads={[
          { text: "Attempt", as: "number" },
          "Outcome",
          { text: "HTTP", as: "number" },
          { text: "Took", as: "number" },
          { text: "Why", as: "wide" },
          { text: "At", as: "number" },
        ]}
        rows={all}
        row={(each) => (
          <tr key={each.attempt} data-row tabIndex={-1}>
            <td class="number">{count(each.attempt)}</td>
            <td>{each.outcome}</td>
            <td class="number">{each.httpStatus ?? "–"}</td>
            <td class="number">{duration(each.durationMs)}</td>
            <td class="wide clip" title={each.lastError}>
              {each.lastError ?? ""}
            </td>
            <td class="number">
              <Time at={each.occurredAt} />
            </td>
          </tr>
        )}
        list
      />
    </section>
  );
}

export function HeldPage({ id }: { id: string }) {
  const read = useLoaded(() => readKnown(id), 3000);
  const known = read.value.value;
  const discarding = useSignal(false);
  if (!known || read.failure.value)
    return (
      <NotShown what="operation" why={read.failure.value}>
        What was delivered is gone, unless its category is tracked. <a href="/desk/forward">All that is held</a>
      </NotShown>
    );
  const { held, tracked } = known;
  const change = (verb: "retry" | "discard", told: string) =>
    attempt(async () => {
      await post(heldPath(id, verb));
      read.again();
      await look();
      return told;
    });
  return (
    <>
      <div class="title">
        <h1 class="whole">{held?.id ?? tracked?.id}</h1>
        {held ? <HeldMark status={held.status} /> : <TrackingMark status={tracked?.status ?? ""} />}
      </div>
      {held?.status === "parked" && (
        <div class="chosen-bar">
          <button type="button" class="primary" onClick={() => change("retry", "It is tried again.")}>
            Retry
          </button>
          <button type="button" onClick={() => (discarding.value = true)}>
            Discard…
          </button>
        </div>
      )}
      <div class="columns">
        <section>
          <h2>How it is</h2>
          <Why held={held} tracked={tracked} />
          {held?.lastError && <pre class="error">{held.lastError}</pre>}
          <p>
            <CopyButton text={`posthorn forward ${held ? "show" : "track"} ${id}`} label="Copy as a command" />
          </p>
        </section>
        {held && (
          <section>
            <h2>About it</h2>
            <HeldFacts one={held} />
          </section>
        )}
      </div>
      {tracked && <Tracked one={tracked} />}
      {tracked && <Attempts id={tracked.id} />}
      {discarding.value && (
        <DiscardDialog
          id={id}
          discard={() => change("discard", "It was discarded.")}
          onClose={() => (discarding.value = false)}
        />
      )}
    </>
  );
}
