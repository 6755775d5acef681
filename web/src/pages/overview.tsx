import { adviceOn } from "../advice";
import { count, duration, percent } from "../format";
import { NodeHistory } from "../history";
import { destinations, everyMs, health, inbox, rates, samplesMax, sinceOf, stats, whyOf, type Rates } from "../node";
import type { DeskPage } from "../page";
import { messageLink } from "../route";
import type { Health, Stats } from "../types";
import { Empty, LaneMark, Lamp, Time, Waiting, Words } from "../ui";
import { Parked, Why } from "./parked";

const headline = {
  green: "All is well",
  yellow: "Something wants a look",
  red: "Something needs you",
} as const;

function Light({ seen }: { seen: Health }) {
  return (
    <section class={`light ${seen.status}`} aria-labelledby="light">
      <Lamp light={seen.status} large />
      <div>
        <h1 id="light">{seen.working ? headline[seen.status] : "The node cannot work"}</h1>
        {seen.reasons.length === 0 ? (
          <p class="quiet">Messages go out as they come; nothing is stuck.</p>
        ) : (
          <ul class="reasons">
            {seen.reasons.map((reason) => {
              const advice = adviceOn(reason);
              return (
                <li key={reason}>
                  <span>
                    <Words text={reason} />
                  </span>
                  {advice && <a href={advice.link}>{advice.text}</a>}
                </li>
              );
            })}
          </ul>
        )}
        {!seen.durable && <p>The store is in memory: what it holds ends with the node.</p>}
      </div>
    </section>
  );
}

function Needs({ seen }: { seen: Stats }) {
  const alarm = seen.undeliverable;
  const blocked = seen.blocked;
  const first = blocked?.keys[0];
  const cards = [
    { title: "Dead", number: seen.failed, more: seen.failedAtLeast, link: "/desk/dead", kind: "red",
      text: "given up; they wait for a person" },
    { title: "No way there", number: alarm.count, more: alarm.countAtLeast, link: "/desk/destinations", kind: "yellow",
      text: alarm.destination ? `for '${alarm.destination}': ${alarm.error ?? "no route"}` : "no route, secret or handler" },
    { title: "Parked", number: blocked?.messages ?? 0, more: blocked?.messagesAtLeast, kind: "yellow",
      link: first && blocked?.keys.length === 1 ? messageLink(first.behind.messageId) : "/desk/destinations",
      text: first ? `behind a dead one, order key '${first.orderKey}' of '${first.destination}'` : "they wait for their order" },
    { title: "Expired", number: seen.expired, more: seen.expiredAtLeast, link: "/desk/dead?status=Expired", kind: "yellow",
      text: "ran out of time before they were sent" },
  ].filter((each) => each.number > 0);
  if (cards.length === 0) return null;
  return (
    <section class="cards" aria-label="What needs a person">
      {cards.map((each) => (
        <a key={each.title} class={`card ${each.kind}`} href={each.link}>
          <span class="label">{each.title}</span>
          <strong>{count(each.number, each.more)}</strong>
          <span class="quiet clip" title={each.text}>
            {each.text}
          </span>
        </a>
      ))}
    </section>
  );
}

function Line({ of, label }: { of: (each: Rates) => number; label: string }) {
  const seen = rates.value.map(of);
  const most = Math.max(1, ...seen);
  const points = seen.map((each, i) => `${samplesMax - seen.length + i},${(30 - (each / most) * 28).toFixed(1)}`);
  return (
    <svg class="line" viewBox={`0 0 ${samplesMax - 1} 32`} preserveAspectRatio="none" role="img" aria-label={label}>
      <polyline points={points.join(" ")} />
    </svg>
  );
}

function Rate({ label, of }: { label: string; of: (each: Rates) => number }) {
  const latest = rates.value.at(-1);
  return (
    <div class="figure">
      <span class="label">{label}</span>
      <strong>{latest ? count(Math.round(of(latest))) : "–"}</strong>
      <Line of={of} label={`${label}, last ${(samplesMax * everyMs) / 60000} minutes`} />
    </div>
  );
}

function Figures({ seen }: { seen: Stats }) {
  const taken = inbox.value;
  return (
    <section class="figures" aria-label="Counts">
      <div class="figure">
        <span class="label">Waiting</span>
        <strong>{count(seen.pending, seen.pendingAtLeast)}</strong>
        <span class="quiet">{seen.pending > 0 ? `oldest ${duration(seen.oldestAgeMs)}` : "nothing waits"}</span>
      </div>
      <Rate label="Sent per second" of={(each) => each.sent} />
      <Rate label="Taken in per second" of={(each) => each.received} />
      <div class="figure">
        <span class="label">Duplicates caught</span>
        <strong>{taken ? count(taken.duplicates ?? 0) : "–"}</strong>
        <span class="quiet">{taken ? `${percent(taken.duplicateRate ?? 0)} of what came` : " "}</span>
      </div>
    </section>
  );
}

function Backlog() {
  const waiting = destinations.value.filter((each) => each.pending > 0 || whyOf(each) !== "");
  return (
    <section>
      <h2>What waits, by destination</h2>
      {waiting.length === 0 ? (
        <Empty title="Nothing waits">
          <p>
            A message is on its way as soon as its transaction commits. What cannot go yet is listed here, with
            the reason.
          </p>
        </Empty>
      ) : (
        <div class="scroll">
          <table>
          <thead>
            <tr>
              <th>Destination</th>
              <th>State</th>
              <th class="number">Waiting</th>
              <th class="number">Oldest</th>
              <th class="wide">Why</th>
              <th class="number">Since</th>
            </tr>
          </thead>
          <tbody>
            {waiting.slice(0, 20).map((each) => (
              <tr key={each.destination} data-row tabIndex={-1}>
                <td>
                  <a href={`/desk/messages?status=Pending&destination=${encodeURIComponent(each.destination)}`}>
                    {each.destination}
                  </a>
                </td>
                <td>
                  <LaneMark state={each.state} />
                </td>
                <td class="number" data-label="waiting">{count(each.pending, each.pendingAtLeast)}</td>
                <td class="number" data-label="oldest">{each.oldestAgeMs === undefined ? "–" : duration(each.oldestAgeMs)}</td>
                <td class="wide">
                  <Why one={each} />
                </td>
                <td class="number" data-label="since">
                  <Time at={sinceOf(each)} />
                </td>
              </tr>
            ))}
          </tbody>
          </table>
        </div>
      )}
      {(waiting.length > 20 || stats.value?.moreDestinations) && (
        <p>
          <a href="/desk/destinations">All destinations</a>
        </p>
      )}
    </section>
  );
}

function Overview() {
  const seen = health.value;
  const counts = stats.value;
  if (!seen) return <Waiting />;
  return (
    <>
      <Light seen={seen} />
      {counts && <Needs seen={counts} />}
      <Parked />
      {counts && <Figures seen={counts} />}
      <NodeHistory />
      <Backlog />
    </>
  );
}

export const overview: DeskPage = { name: "", title: "Overview", show: () => <Overview /> };
