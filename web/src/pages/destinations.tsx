import { useSignal } from "@preact/signals";
import { post, query } from "../api";
import { count, duration } from "../format";
import { HistoryDialog } from "../history";
import { Table } from "../listing";
import { destinations, look, sinceOf, stats, type Destination } from "../node";
import type { DeskPage } from "../page";
import { attempt, Empty, FormDialog, LaneMark, Time, Waiting } from "../ui";
import { Parked, Why } from "./parked";

function lanePath(destination: string, verb: string) {
  return `/_rf/outbox/lanes/${encodeURIComponent(destination)}/${verb}`;
}

function Pause({ destination, onClose }: { destination: string; onClose: () => void }) {
  const reason = useSignal("");
  const pause = async () => {
    const done = await attempt(async () => {
      await post(lanePath(destination, "pause") + query({ reason: reason.value.trim() }));
      await look();
      return `Nothing is sent to '${destination}' until it is resumed.`;
    });
    if (done) onClose();
  };
  return (
    <FormDialog title={`Pause '${destination}'`} verb="Pause" onSubmit={pause} onClose={onClose}>
      <p>Messages for it are kept and wait. Those that expire meanwhile are not sent. Resume takes it back.</p>
      <label>
        Why, for others who look here
        <input
          value={reason.value}
          onInput={(event) => (reason.value = event.currentTarget.value)}
          placeholder="stock is down until noon"
          maxLength={500}
          autofocus
        />
      </label>
    </FormDialog>
  );
}

interface RowProps {
  one: Destination;
  onPause: () => void;
  onHistory: () => void;
}

function Row({ one, onPause, onHistory }: RowProps) {
  const busy = useSignal(false);
  const change = async (verb: "resume" | "try", told: string) => {
    busy.value = true;
    await attempt(async () => {
      await post(lanePath(one.destination, verb));
      await look();
      return told;
    });
    busy.value = false;
  };
  const since = sinceOf(one);
  const stuck = !one.pausedSince && ["open", "probing", "throttled", "no_route"].includes(one.state);
  return (
    <tr data-row tabIndex={-1}>
      <td>
        <a href={`/desk/messages?destination=${encodeURIComponent(one.destination)}`}>{one.destination}</a>
      </td>
      <td>
        <LaneMark state={one.state} />
      </td>
      <td class="number" data-label="waiting">{count(one.waiting ?? one.pending, one.pendingAtLeast)}</td>
      <td class="number" data-label="oldest">{one.oldestAgeMs === undefined ? "–" : duration(one.oldestAgeMs)}</td>
      <td class="number" data-label="under way" title="Requests under way, of those that may be">
        {one.inFlight === undefined ? "–" : `${one.inFlight} / ${one.window ?? "–"}`}
      </td>
      <td class="wide">
        <Why one={one} />
        {since && (
          <span class="quiet aside">
            since <Time at={since} />
          </span>
        )}
        {stuck && one.until && (
          <span class="quiet aside">
            next try <Time at={one.until} />
          </span>
        )}
      </td>
      <td class="buttons">
        <button type="button" onClick={onHistory}>
          History
        </button>
        {stuck && (
          <button type="button" disabled={busy.value} onClick={() => change("try", `Trying '${one.destination}' now.`)}>
            Try now
          </button>
        )}
        {one.pausedSince ? (
          <button
            type="button"
            disabled={busy.value}
            onClick={() => change("resume", `'${one.destination}' goes on.`)}
          >
            Resume
          </button>
        ) : (
          <button type="button" onClick={onPause}>
            Pause…
          </button>
        )}
      </td>
    </tr>
  );
}

function Destinations() {
  const pausing = useSignal("");
  const shown = useSignal("");
  if (!stats.value) return <Waiting />;
  return (
    <>
      <section>
        <h1>Destinations</h1>
        {destinations.value.length === 0 ? (
          <Empty title="Nothing was sent since the node started">
            <p>
              Each destination has a lane of its own, so that one that is down holds up no other. It appears here
              with the first message for it. Try <code>posthorn send --to stock --endpoint reserve --payload '{"{}"}'</code>.
            </p>
          </Empty>
        ) : (
          <Table
            heads={[
              "Destination",
              "State",
              { text: "Waiting", as: "number" },
              { text: "Oldest", as: "number" },
              { text: "Under way", as: "number" },
              { text: "Why", as: "wide" },
              { text: "What to do", as: "unseen" },
            ]}
            rows={destinations.value}
            row={(each) => (
              <Row
                key={each.destination}
                one={each}
                onPause={() => (pausing.value = each.destination)}
                onHistory={() => (shown.value = each.destination)}
              />
            )}
          />
        )}
        {shown.value && <HistoryDialog of={{ destination: shown.value }} onClose={() => (shown.value = "")} />}
      </section>
      <Parked />
      {pausing.value && <Pause destination={pausing.value} onClose={() => (pausing.value = "")} />}
    </>
  );
}

export const destinationsPage: DeskPage = {
  name: "destinations",
  title: "Destinations",
  show: () => <Destinations />,
};
