import { useSignal } from "@preact/signals";
import { get, query, wordsOf } from "../api";
import { count, milliseconds, percent, shortId } from "../format";
import { Listing, Table } from "../listing";
import { handling, inbox } from "../node";
import type { DeskPage } from "../page";
import { usePaged } from "../paged";
import { filters, inboxLink } from "../route";
import type { InboxRow, RefusedCall } from "../types";
import { Empty, Failure, Time } from "../ui";
import { Text } from "./filters";
import { LinkList } from "./links";

function asked(before: number | null) {
  return `/_rf/inbox${query({ source: filters.value.get("source"), limit: 50, before })}`;
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

function Inbox() {
  const page = usePaged<InboxRow>(asked);
  return (
    <>
      <section>
        <h1>Inbox</h1>
        <Figures />
        <div class="filters">
          <Text name="source" label="From" placeholder="any service" />
        </div>
        <Listing
          from={page}
          empty={
            <Empty title="Nothing was taken in">
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

function TakenPage({ id }: { id: string }) {
  return (
    <>
      <h1 class="whole">{id}</h1>
      <section>
        <h2>Causes and effects</h2>
        <LinkList id={id} />
        <p class="quiet">
          What came in and what its handler sent from here. The payload is not kept once it took effect.
        </p>
      </section>
    </>
  );
}

export const inboxPage: DeskPage = {
  name: "inbox",
  title: "Inbox",
  show: () => <Inbox />,
  showOne: (id) => <TakenPage id={id} />,
};
