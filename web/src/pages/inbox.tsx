import { useSignal } from "@preact/signals";
import { get, query, wordsOf } from "../api";
import { count, latency, milliseconds, percent, plural, shortId } from "../format";
import { HistoryDialog } from "../history";
import { Listing, Table } from "../listing";
import { useLoaded } from "../load";
import { handling, inbox, routes } from "../node";
import type { DeskPage } from "../page";
import { usePaged } from "../node_paged";
import { filters, inboxLink } from "../route";
import type { FailedMessage, Handler, InboxRow, RefusedCall, TakenDetail } from "../types";
import { Empty, Failure, Time, Waiting } from "../ui";
import { ElsewhereOf } from "./elsewhere";
import { Choice, MoreFilters, Text, times, When } from "./filters";
import { LinkList } from "./links";

/// Those of the address that this list knows.
function chosen(names: string[]): Record<string, string | null> {
  return Object.fromEntries(names.map((name) => [name, filters.value.get(name)]));
}

const ofBoth = ["source", "endpoint", "messageId"]; // What was taken in, and what was not.

function asked(before: number | null) {
  return `/_rf/inbox${query({ ...chosen([...ofBoth, "state"]), ...times(), limit: 50, before })}`;
}

function Figures() {
  const seen = inbox.value;
  if (!seen) return null;
  return (
    <section class="figures many" aria-label="Counts">
      <div class="figure">
        <span class="label">Remembered</span>
        <strong>{count(seen.size, seen.sizeAtLeast)}</strong>
        <span class="quiet">so that none is handled twice</span>
      </div>
      <div class="figure">
        <span class="label">Handled</span>
        <strong>{count(seen.processed ?? 0)}</strong>
        <span class="quiet">since the node started</span>
      </div>
      <div class="figure">
        <span class="label">Duplicates caught</span>
        <strong>{count(seen.duplicates ?? 0)}</strong>
        <span class="quiet">{percent(seen.duplicateRate ?? 0)} of what came</span>
      </div>
      <div class="figure">
        <span class="label">Failed</span>
        <strong class={seen.failed ? "bad" : ""}>{count(seen.failed ?? 0)}</strong>
        <span class="quiet">the sender tries again or gives up</span>
      </div>
      <div class="figure">
        <span class="label">Refused</span>
        <strong class={seen.refused ? "bad" : ""}>{count((seen.refused ?? 0) + (seen.conflicts ?? 0))}</strong>
        <span class="quiet">no handler, too late, or another body</span>
      </div>
      <div class="figure">
        <span class="label">Handling takes</span>
        <strong>{handling.value ? `≤ ${milliseconds(handling.value.half)}` : "–"}</strong>
        <span class="quiet">{handling.value ? `99 % within ${milliseconds(handling.value.most)}` : "half of them"}</span>
      </div>
    </section>
  );
}

/// What needs a person first: what only fails now, then the slowest.
function inOrder(all: Handler[]): Handler[] {
  const slowness = (one: Handler) => (one.failing ? Infinity : (one.p99Ms ?? -1));
  return [...all].sort((a, b) => slowness(b) - slowness(a) || a.endpoint.localeCompare(b.endpoint));
}

function HandlerRow({ one, onHistory }: { one: Handler; onHistory: () => void }) {
  const fails = one.failing;
  return (
    <tr data-row tabIndex={-1}>
      <td class="clip">{one.endpoint}</td>
      <td>
        <span class={fails ? "mark yellow" : "mark"}>{fails ? "fails" : "works"}</span>
      </td>
      <td class="number" data-label="handled">{count(one.handled)}</td>
      <td class="number" data-label="failed">{count(one.failed)}</td>
      <td class="number" data-label="half within">{one.p50Ms === undefined ? "–" : latency(one.p50Ms)}</td>
      <td class="number" data-label="99 % within">{one.p99Ms === undefined ? "–" : latency(one.p99Ms)}</td>
      <td class="wide">
        {fails && (
          <>
            {fails.why}
            <span class="quiet aside">
              {plural(fails.times, "time")} since <Time at={fails.since} />, last from {fails.source}
            </span>
          </>
        )}
      </td>
      <td class="buttons">
        <button type="button" onClick={onHistory}>
          History
        </button>
      </td>
    </tr>
  );
}

function Handlers() {
  const read = useLoaded(() => get<{ handlers: Handler[] }>("/_rf/inbox/handlers"), 5000);
  const shown = useSignal("");
  const all = read.value.value?.handlers ?? [];
  return (
    <section>
      <h2>Handlers</h2>
      <Failure why={read.failure.value} again={read.again} />
      {all.length === 0 ? (
        <p class="quiet">None was called since the node started.</p>
      ) : (
        <Table
          heads={[
            "Endpoint",
            "State",
            { text: "Handled", as: "number" },
            { text: "Failed", as: "number" },
            { text: "Half within", as: "number", title: "From the arrival to the answer" },
            { text: "99 % within", as: "number", title: "From the arrival to the answer" },
            { text: "Why it fails", as: "wide" },
            { text: "What to do", as: "unseen" },
          ]}
          rows={inOrder(all)}
          row={(each) => (
            <HandlerRow key={each.endpoint} one={each} onHistory={() => (shown.value = each.endpoint)} />
          )}
        />
      )}
      {shown.value && <HistoryDialog of={{ endpoint: shown.value }} onClose={() => (shown.value = "")} />}
    </section>
  );
}

function Row({ one }: { one: InboxRow }) {
  return (
    <tr data-row tabIndex={-1}>
      <td class="id" title={one.messageId}>
        <a href={inboxLink(one.messageId)}>{shortId(one.messageId)}</a>
      </td>
      <td class="clip">{one.sourceServiceId}</td>
      <td class="clip">{one.endpoint}</td>
      <td>
        {one.processedAt ? (
          <span class="mark">handled</span>
        ) : one.claimedUntil ? (
          <span class="mark yellow">at work</span>
        ) : (
          <span class="mark">taken in</span>
        )}
      </td>
      <td class="number" data-label="handled">
        <Time at={one.processedAt ?? one.claimedUntil} />
      </td>
      <td class="number" data-label="forgotten">
        <Time at={one.expiresAt} />
      </td>
    </tr>
  );
}

function FailedRow({ one }: { one: FailedMessage }) {
  return (
    <tr data-row tabIndex={-1}>
      <td class="id" title={one.messageId}>
        <a href={inboxLink(one.messageId)}>{shortId(one.messageId)}</a>
      </td>
      <td class="clip">{one.source}</td>
      <td class="clip">{one.endpoint}</td>
      <td class="number" data-label="times">{count(one.times)}</td>
      <td class="wide clip" title={one.why}>
        {one.why}
      </td>
      <td class="number" data-label="last">
        <Time at={one.last} />
      </td>
    </tr>
  );
}

/// What came and was not taken in, until it is. Nothing where nothing is: then there is no fault to
/// look for.
function Failed() {
  const read = useLoaded(
    () => get<{ failed: FailedMessage[] }>(`/_rf/inbox/failed${query(chosen([...ofBoth, "error"]))}`),
    5000,
  );
  const all = read.value.value?.failed ?? [];
  if (all.length === 0) return <Failure why={read.failure.value} again={read.again} />;
  return (
    <section>
      <h2>Not taken in</h2>
      <Failure why={read.failure.value} again={read.again} />
      <Table
        heads={[
          "Message",
          "From",
          "Endpoint",
          { text: "Times", as: "number" },
          { text: "Why", as: "wide" },
          { text: "Last", as: "number" },
        ]}
        rows={all}
        row={(each) => <FailedRow key={`${each.source} ${each.messageId}`} one={each} />}
      />
      <p class="quiet">The newest 100 since the node started, without those that were taken in after all.</p>
    </section>
  );
}

/// What web services said when they did not take a message. It may repeat payloads, so it is asked
/// for by itself.
function Refused() {
  const calls = useSignal<RefusedCall[] | null>(null);
  const failure = useSignal("");
  const read = async () => {
    try {
      failure.value = "";
      calls.value = (await get<{ refused: RefusedCall[] }>("/_rf/inbox/refused")).refused;
    } catch (thrown) {
      failure.value = wordsOf(thrown);
    }
  };
  return (
    <section>
      <h2>What web services refused</h2>
      <Failure why={failure.value} />
      <p>
        <button type="button" onClick={read}>
          {calls.value ? "Read again" : "Show what they answered"}
        </button>{" "}
        <span class="quiet">The newest 100 since the node started. Needs a key with the right to payloads.</span>
      </p>
      {calls.value?.length === 0 && (
        <Empty title="None was refused">
          <p>Handlers that are web services answer 2xx for what they took. What they said otherwise is listed here.</p>
        </Empty>
      )}
      {calls.value && calls.value.length > 0 && (
        <Table
          heads={[
            { text: "When", as: "number" },
            "Message",
            "From",
            "Endpoint",
            { text: "Status", as: "number" },
            { text: "Answer", as: "wide" },
          ]}
          rows={calls.value}
          row={(each, i) => (
            <tr key={`${each.at} ${i}`} data-row tabIndex={-1}>
              <td class="number">
                <Time at={each.at} />
              </td>
              <td class="id" title={each.messageId}>
                <a href={inboxLink(each.messageId)}>{shortId(each.messageId)}</a>
              </td>
              <td class="clip">{each.source}</td>
              <td class="clip">{each.endpoint}</td>
              <td class="number" data-label="status">{each.status}</td>
              <td class="wide">
                <pre class="error">{each.answer}</pre>
              </td>
            </tr>
          )}
        />
      )}
    </section>
  );
}

function isNarrowed() {
  return [...ofBoth, "state", "since", "until"].some((name) => filters.value.get(name));
}

function Inbox() {
  const page = usePaged<InboxRow>(asked);
  return (
    <>
      <section>
        <h1>Inbox</h1>
        <Figures />
      </section>
      <Handlers />
      {routes.value?.has("GET /_rf/inbox/failed") && <Failed />}
      <section>
        <h2>Taken in</h2>
        <div class="filters">
          <Text name="source" label="From" placeholder="any service" />
          <Choice
            name="state"
            label="State"
            options={[["", "any"], ["processed", "handled"], ["at work", "at work"]]}
          />
          <MoreFilters names={["endpoint", "messageId", "error"]} />
          <When label="Handled" />
        </div>
        <Listing
          from={page}
          empty={
            <Empty title={isNarrowed() ? "Nothing that fits was taken in" : "Nothing was taken in"}>
              <p>
                What other services send here is remembered by sender and id, so that a message that comes twice is
                handled once. Handlers are written in code or under <code>[handlers]</code>.
              </p>
            </Empty>
            }
          heads={[
            "Message",
            "From",
            "Endpoint",
            "State",
            { text: "Handled", as: "number" },
            { text: "Forgotten", as: "number" },
          ]}
          row={(each) => <Row key={`${each.sourceServiceId} ${each.messageId}`} one={each} />}
        />
      </section>
      <Refused />
    </>
  );
}

/// What became of it here. Ids are the senders' own, so there may be one from each of several.
function Here({ id }: { id: string }) {
  const read = useLoaded(() => get<TakenDetail>(`/_rf/inbox/${encodeURIComponent(id)}`), 5000);
  const told = read.value.value;
  if (!told) return read.failure.value ? <p class="quiet">{read.failure.value}</p> : <Waiting />;
  return (
    <ol class="timeline">
      {(told.failed ?? []).map((each) => (
        <li key={`failed ${each.source}`} class="yellow">
          <div class="head">
            <strong>
              Not taken in {count(each.times)} {each.times === 1 ? "time" : "times"}: {each.endpoint} from {each.source}
            </strong>
            <Time at={each.last} />
          </div>
          <pre class="error">{each.why}</pre>
          {each.times > 1 && (
            <span class="quiet">
              for the first time <Time at={each.first} />
            </span>
          )}
        </li>
      ))}
      {told.received.map((each) => (
        <li key={each.sourceServiceId} class={each.processedAt ? "green" : ""}>
          <div class="head">
            <strong>
              {each.processedAt ? "Took effect" : "At work"}: {each.endpoint} from {each.sourceServiceId}
            </strong>
            <Time at={each.processedAt ?? each.claimedUntil} />
          </div>
          <span class="quiet">
            {each.claimedBy && `${each.claimedBy} has it; `}
            repeats are known until <Time at={each.expiresAt} />
          </span>
        </li>
      ))}
    </ol>
  );
}

function TakenPage({ id }: { id: string }) {
  return (
    <>
      <h1 class="whole">{id}</h1>
      <section>
        <h2>What happened here</h2>
        <Here id={id} />
      </section>
      <section>
        <h2>Causes and effects</h2>
        <LinkList id={id} />
        <p class="quiet">
          What came in and what its handler sent from here. The payload is not kept once it took effect.
        </p>
      </section>
      <ElsewhereOf id={id} />
    </>
  );
}

export const inboxPage: DeskPage = {
  name: "inbox",
  title: "Inbox",
  show: () => <Inbox />,
  showOne: (id) => <TakenPage id={id} />,
};
