import { get } from "../api";
import { bytes, count, plural } from "../format";
import { useLoaded } from "../load";
import type { DeskPage } from "../page";
import type { ArchiveReport, StandbyReport } from "../standby_types";
import type { Light } from "../types";
import { Empty, FactList, Failure, Time, Waiting } from "../ui";

interface Both {
  standby: StandbyReport;
  archive: ArchiveReport;
}

async function ask(): Promise<Both> {
  const [standby, archive] = await Promise.all([
    get<StandbyReport>("/_rf/standby"),
    get<ArchiveReport>("/_rf/standby/archive"),
  ]);
  return { standby, archive };
}

function lightOf(told: StandbyReport): Light {
  const waits = told.mode === "sync" && told.whenLost === "wait";
  if (told.state === "away") return waits ? "red" : "yellow";
  return told.state === "copying" || told.alone ? "yellow" : "green";
}

const whenAnswered: Record<string, string> = {
  "sync wait": "once it is on both disks; without the standby nothing is taken in or sent",
  "sync alone": "once it is on both disks; without the standby once it is on this one",
  "async wait": "once it is on this disk; the standby follows behind",
  "async alone": "once it is on this disk; the standby follows behind",
};

function lagOf(told: StandbyReport): string {
  if (!told.lagBytes) return "none";
  return `${bytes(told.lagBytes)}, for ${(told.lagSeconds ?? 0).toFixed(1)} s`;
}

function Pair({ told }: { told: StandbyReport }) {
  if (!told.standby)
    return (
      <Empty title="This node has no standby">
        <p>
          A second machine can keep a copy of a SQLite database, so that what is answered is on two disks. Name it in{" "}
          <code>to</code> under <code>[standby]</code>.
        </p>
      </Empty>
    );
  return (
    <section class="sheet">
      <h2>
        The standby at {told.standby} <span class={`mark ${lightOf(told)}`}>{told.state}</span>
      </h2>
      {told.trouble && <pre class="error">{told.trouble}</pre>}
      <FactList
        facts={[
          ["Primary", "this node"],
          ["Epoch", told.epoch === undefined ? "" : count(told.epoch)],
          ["Behind", lagOf(told)],
          ["Log ends at", told.position === undefined ? "" : `byte ${count(told.position)}`],
          ["A commit is answered", whenAnswered[`${told.mode} ${told.whenLost}`]],
          ["Answered without it", told.alone ? "yes: this disk alone has what was answered lately" : ""],
          ["A promotion now would lose", <strong>{told.lostByPromotion}</strong>],
          ["Stream", <span class="whole">{told.stream}</span>],
        ]}
      />
      <p class="quiet">
        When this machine is lost: see to it that it stays off, then <code>posthorn standby promote</code> on the other.
      </p>
    </section>
  );
}

function Gaps({ told }: { told: ArchiveReport }) {
  if (!told.gaps?.length) return <></>;
  return (
    <>
      <h3>Nothing can be restored of</h3>
      <ul>
        {told.gaps.map((each) => (
          <li key={each.from}>
            <Time at={each.from} /> to {each.to ? <Time at={each.to} /> : "now, until a base is whole"}
          </li>
        ))}
      </ul>
    </>
  );
}

function Archive({ told }: { told: ArchiveReport }) {
  if (!told.configured)
    return (
      <Empty title="There is no archive">
        <p>
          With a folder in <code>archive</code> under <code>[standby]</code> the node keeps its log, and any moment of
          the last days can be restored. It needs no standby.
        </p>
      </Empty>
    );
  return (
    <section class="sheet">
      <h2>
        The archive {told.trouble && <span class="mark yellow">cannot be written</span>}
        {!told.trouble && !told.oldest && <span class="mark yellow">has no base yet</span>}
      </h2>
      {told.trouble && <pre class="error">{told.trouble}</pre>}
      <FactList
        facts={[
          ["Where", <span class="whole">{told.folder}</span>],
          ["Newest moment", told.newest ? <Time at={told.newest} /> : "none yet"],
          ["Oldest moment", told.oldest ? <Time at={told.oldest} /> : "none yet"],
          ["Newest base", told.baseAt ? <Time at={told.baseAt} /> : "none yet"],
          ["A base is being made", told.copiedBytes ? `${bytes(told.copiedBytes)} so far` : ""],
          ["Not there yet", told.behindBytes ? bytes(told.behindBytes) : ""],
          ["Size", `${bytes(told.bytes ?? 0)} in ${plural(told.bases ?? 0, "base")} and ${plural(told.segments ?? 0, "segment")}`],
        ]}
      />
      <Gaps told={told} />
      {told.lost && told.lost.length > 0 && (
        <>
          <h3>Missing or damaged</h3>
          <ul>
            {told.lost.map((each) => (
              <li key={each} class="whole">
                {each}
              </li>
            ))}
          </ul>
        </>
      )}
      <p class="quiet">
        <code>posthorn restore --at TIME</code> makes a database of any moment between the two.
      </p>
    </section>
  );
}

function Standby() {
  const read = useLoaded(ask, 2000);
  const told = read.value.value;
  return (
    <>
      <h1>Standby</h1>
      <Failure why={read.failure.value} again={read.again} />
      {!told && !read.failure.value && <Waiting />}
      {told && (
        <div class="columns">
          <div class="stack">
            <Pair told={told.standby} />
          </div>
          <div class="stack">
            <Archive told={told.archive} />
          </div>
        </div>
      )}
    </>
  );
}

export const standby: DeskPage = {
  name: "standby",
  title: "Standby",
  needs: "GET /_rf/standby/archive",
  show: () => <Standby />,
};
