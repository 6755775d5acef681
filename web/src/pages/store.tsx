import { adviceOn } from "../advice";
import { get } from "../api";
import { bytes, count, duration } from "../format";
import { useLoaded } from "../load";
import { health } from "../node";
import type { DeskPage } from "../page";
import type { Finding, Light, StoreDatabase, StoreReport } from "../types";
import { FactList, Failure, Time, Waiting } from "../ui";

const levelLight: Record<Finding["level"], Light | ""> = { ok: "", warn: "yellow", bad: "red" };
const diskLight: Record<string, Light> = { scarce: "yellow", low: "red", full: "red" };

function size(value: number | undefined): string {
  return value === undefined ? "" : bytes(value);
}

function Database({ one }: { one: StoreDatabase }) {
  const { disk } = one;
  return (
    <section class="sheet">
      <h2>
        {one.kind} <span class="quiet">with {one.holds}</span>
      </h2>
      <FactList
        facts={[
          ["Where", <span class="whole">{one.place}</span>],
          ["Size", size(one.bytes)],
          ["Of that free", size(one.freeBytes)],
          ["Log (WAL)", size(one.logBytes)],
          ["Size not known", one.sizeError],
          [
            "Disk",
            disk && (
              <>
                <span class={`mark ${diskLight[disk.state] ?? ""}`}>{disk.state}</span> {size(disk.freeBytes)} free
              </>
            ),
          ],
          ["No new messages below", disk && bytes(disk.lowWaterBytes)],
          ["Refused for want of room", disk && disk.refused > 0 ? count(disk.refused) : ""],
          ["Ballast", disk && (disk.ballast ? "there, given up when the disk is full" : "none")],
        ]}
      />
    </section>
  );
}

function Backups({ told }: { told: StoreReport["backups"] }) {
  if (!told)
    return (
      <section class="sheet">
        <h2>Backups</h2>
        <p>
          The node makes none. Set <code>folder</code> under <code>[backup]</code>, best on another disk; a database
          on a server is backed up there.
        </p>
      </section>
    );
  return (
    <section class="sheet">
      <h2>Backups</h2>
      <FactList
        facts={[
          ["Where", <span class="whole">{told.folder}</span>],
          ["Made", `every ${duration(told.everyMs)}, kept for ${duration(told.keepMs)}`],
        ]}
      />
      {told.databases.map((each, i) => (
        <FactList
          key={i}
          facts={[
            ["Newest", each.newest ? <Time at={each.newest} /> : "none yet"],
            ["Size", size(each.bytes)],
            ["Since the start", `${count(each.made)} made and verified, ${count(each.failed)} failed`],
            ["Last failure", each.lastError],
          ]}
        />
      ))}
    </section>
  );
}

function Findings({ all }: { all: Finding[] }) {
  const worst = { bad: 0, warn: 1, ok: 2 };
  const sorted = [...all].sort((a, b) => worst[a.level] - worst[b.level]);
  return (
    <section>
      <h2>What the node finds</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Check</th>
              <th>State</th>
              <th class="wide">What is so, and what to do</th>
            </tr>
          </thead>
          <tbody>
            {sorted.map((each) => (
              <tr key={each.check} data-row tabIndex={-1}>
                <td>{each.check}</td>
                <td>
                  <span class={`mark ${levelLight[each.level]}`}>{each.level}</span>
                </td>
                <td class="wide">
                  {each.what}
                  {each.why && <p class="quiet">{each.why}</p>}
                  {each.todo && <p>{each.todo}</p>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="quiet">
        <code>posthorn doctor --full</code> looks at every page of the database too, from outside.
      </p>
    </section>
  );
}

function Store() {
  const read = useLoaded(() => get<StoreReport>("/_rf/store"), 5000);
  const told = read.value.value;
  return (
    <>
      <h1>Store</h1>
      <Failure why={read.failure.value} again={read.again} />
      {!told && !read.failure.value && <Waiting />}
      {(health.value?.reasons ?? []).filter((each) => adviceOn(each)?.link === "/desk/store").map((each) => (
        <Failure key={each} why={each} />
      ))}
      {told && (
        <>
          <div class="columns">
            <div class="stack">
              {told.databases.map((each) => (
                <Database key={each.place + each.holds} one={each} />
              ))}
            </div>
            <div class="stack">
              <Backups told={told.backups} />
              <section class="sheet">
                <h2>Retention</h2>
                <FactList
                  facts={told.retention.map((each) => [
                    each.what,
                    each.keepMs === null ? "kept for ever" : `deleted after ${duration(each.keepMs)}`,
                  ])}
                />
              </section>
            </div>
          </div>
          <Findings all={told.findings} />
        </>
      )}
    </>
  );
}

export const store: DeskPage = { name: "store", title: "Store", needs: "GET /_rf/store", show: () => <Store /> };
