import { get, query, Refusal } from "../api";
import { isMessageId } from "../find";
import { plural, shortId } from "../format";
import { NotShown, Table } from "../listing";
import { useLoaded } from "../load";
import { health } from "../node";
import type { DeskPage } from "../page";
import { filters, messageLink, nodeLink } from "../route";
import type { Detail, Hit, LightSpan, Message, Page, SearchAnswer, WatchedNode } from "../types";
import { Empty, FactList, Failure, Lamp, StatusMark, Time, Waiting } from "../ui";
import { Elsewhere, ElsewhereOf, stepsElsewhere, useLife } from "./elsewhere";
import { Choice, MoreFilters, Text, times, When } from "./filters";
import { Timeline } from "./message";

const words: Record<WatchedNode["light"], string> = {
  green: "works",
  yellow: "works, but look",
  red: "needs you",
  unknown: "not known",
};

function LightWords({ one }: { one: WatchedNode }) {
  return (
    <span class="light-words">
      {one.light !== "unknown" && <Lamp light={one.light} />}
      <span>{words[one.light]}</span>
    </span>
  );
}

function DeskLink({ one }: { one: WatchedNode }) {
  return (
    <a class="own-desk" href={`${one.url}/desk/`} target="_blank" rel="noreferrer">
      its desk
    </a>
  );
}

const stripMs = 7 * 24 * 3600 * 1000;
const stripWidth = 700;
const spanMin = 4; // What was short is seen too.
// What is worse is higher too, so that it can be told without colours.
const heights: Record<LightSpan["light"], number> = { green: 6, yellow: 11, red: 16 };

/// What the strip says to those who do not see it.
function stripWords(spans: LightSpan[]): string {
  const changes = spans.filter((each) => each.light === "red").length;
  return changes === 0 ? "Never red in the last 7 days" : `Red ${plural(changes, "time")} in the last 7 days`;
}

function Strip({ name }: { name: string }) {
  const read = useLoaded(() => get<{ history: LightSpan[] }>(`/_rf/nodes/${encodeURIComponent(name)}?limit=1000`), 60000);
  const spans = read.value.value?.history;
  if (!spans) return <svg class="strip" viewBox={`0 0 ${stripWidth} 16`} />;
  const end = Date.now();
  const at = (time: string) => Math.max(0, (1 - (end - Date.parse(time)) / stripMs) * stripWidth);
  return (
    <svg class="strip" viewBox={`0 0 ${stripWidth} 16`} preserveAspectRatio="none" role="img" aria-label={stripWords(spans)}>
      {spans.map((each) => (
        <rect
          key={each.seq}
          class={each.light}
          x={Math.min(at(each.from), stripWidth - spanMin).toFixed(1)}
          y={16 - heights[each.light]}
          width={Math.max(spanMin, at(each.to) - at(each.from)).toFixed(1)}
          height={heights[each.light]}
        />
      ))}
    </svg>
  );
}

function Row({ one }: { one: WatchedNode }) {
  return (
    <tr data-row tabIndex={-1}>
      <td class="clip">
        <a href={nodeLink(one.name)}>{one.name}</a>
      </td>
      <td>
        <LightWords one={one} />
      </td>
      <td class="wide">{one.reasons.join("; ")}</td>
      <td class="number" data-label="since">
        <Time at={one.since} />
      </td>
      <td class="number" data-label="seen">
        <Time at={one.seenAt} />
      </td>
      <td class="number" data-label="took">{one.latencyMs === undefined ? "–" : `${one.latencyMs} ms`}</td>
      <td data-label="7 days">
        <Strip name={one.name} />
      </td>
      <td>
        <DeskLink one={one} />
      </td>
    </tr>
  );
}

function NodeTable({ all }: { all: WatchedNode[] }) {
  return (
    <Table
      heads={[
        "Node",
        "Light",
        { text: "Why", as: "wide" },
        { text: "Since", as: "number" },
        { text: "Seen", as: "number" },
        { text: "Took", as: "number" },
        "Last 7 days",
        { text: "Its own desk", as: "unseen" },
      ]}
      rows={all}
      row={(each) => <Row key={each.name} one={each} />}
    />
  );
}

const more = ["causationId", "endpoint", "tenant"];
const searched = ["messageId", "correlationId", "orderKey", "destination", "error", "status", ...more];

/// What this node itself has, as hits.
async function own(wanted: Record<string, string>): Promise<Hit[]> {
  const { messageId, ...rest } = wanted;
  if (!messageId) return (await get<Page<Message>>(`/_rf/outbox${query({ ...rest, limit: 20 })}`)).messages;
  try {
    return [await get<Detail>(`/_rf/outbox/${encodeURIComponent(messageId)}`)];
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.status === 404) return [];
    throw thrown;
  }
}

async function search(wanted: Record<string, string>): Promise<SearchAnswer> {
  const [here, others] = await Promise.all([own(wanted), get<SearchAnswer>(`/_rf/search${query(wanted)}`)]);
  return { hits: [...here, ...others.hits], nodes: others.nodes };
}

function HitRow({ one }: { one: Hit }) {
  return (
    <tr data-row tabIndex={-1}>
      <td class="clip">{one.node ?? `${health.value?.service ?? ""} (this node)`}</td>
      <td class="id">
        <a href={one.node ? nodeLink(one.node, one.messageId) : messageLink(one.messageId)} title={one.messageId}>
          {shortId(one.messageId)}
        </a>
      </td>
      <td>
        <StatusMark status={one.status} />
      </td>
      <td class="clip">{one.destination}</td>
      <td class="clip">{one.endpoint}</td>
      <td class="wide clip" title={one.lastError}>
        {one.lastError ?? ""}
      </td>
      <td class="number">
        <Time at={one.createdAt} />
      </td>
    </tr>
  );
}

function Hits({ found }: { found: SearchAnswer }) {
  const silent = found.nodes.filter((each) => !each.answered);
  const more = found.nodes.filter((each) => each.more);
  return (
    <>
      {silent.map((each) => (
        <p key={each.node} class="note" role="note">
          '{each.node}' did not answer, so what it has is not here: {each.why}
        </p>
      ))}
      {found.hits.length === 0 && (
        <Empty title="No node has sent such a message">
          <p>Sent messages are deleted after their retention.</p>
        </Empty>
      )}
      {found.hits.length > 0 && (
        <Table
          list
          heads={[
            "Node",
            "Message",
            "Status",
            "Destination",
            "Endpoint",
            { text: "Error", as: "wide" },
            { text: "Created", as: "number" },
          ]}
          rows={found.hits}
          row={(each) => <HitRow key={`${each.node ?? ""} ${each.messageId}`} one={each} />}
        />
      )}
      {more.length > 0 && (
        <p class="quiet">There may be more at {more.map((each) => each.node).join(", ")}; narrow the search to see it.</p>
      )}
    </>
  );
}

function Search() {
  const wanted = (): Record<string, string> => {
    const chosen = searched.map((name) => [name, filters.value.get(name)]).filter(([, value]) => value);
    return { ...Object.fromEntries(chosen), ...times() };
  };
  const read = useLoaded(async () => {
    const chosen = wanted();
    return Object.keys(chosen).length > 0 ? search(chosen) : null;
  });
  const asked = Object.keys(wanted()).length > 0;
  const id = filters.value.get("messageId") ?? ""; // It may stand in inboxes alone.
  return (
    <section>
      <h2>Search all nodes</h2>
      <div class="filters">
        <Text name="messageId" label="Message id" />
        <Text name="correlationId" label="Correlation id" />
        <Text name="orderKey" label="Order key" />
        <Text name="destination" label="Destination" />
        <Text name="error" label="Error has" />
        <Choice
          name="status"
          label="Status"
          options={[["", "any"], ["Pending", "Pending"], ["Sent", "Sent"], ["Dead", "Dead"], ["Expired", "Expired"], ["Resolved", "Resolved"]]}
        />
        <MoreFilters names={more} />
        <When label="Since" />
      </div>
      <Failure why={read.failure.value} again={read.again} />
      {asked && !read.value.value && !read.failure.value && <Waiting />}
      {asked && read.value.value && <Hits found={read.value.value} />}
      {isMessageId.test(id) && <ElsewhereOf key={id} id={id} />}
    </section>
  );
}

function Nodes() {
  const read = useLoaded(() => get<{ nodes: WatchedNode[] }>("/_rf/nodes"), 3000);
  const all = read.value.value?.nodes;
  return (
    <>
      <section>
        <h1>Nodes</h1>
        <Failure why={read.failure.value} again={read.again} />
        {!all && !read.failure.value && <Waiting />}
        {all && <NodeTable all={all} />}
      </section>
      <Search />
    </>
  );
}

/// A message that another node has, as far as that node's viewers may see it.
function OthersMessage({ name, id }: { name: string; id: string }) {
  const read = useLoaded(() =>
    get<{ url: string; message: Detail }>(`/_rf/nodes/${encodeURIComponent(name)}/outbox/${encodeURIComponent(id)}`),
  );
  const life = useLife(id, () => read.value.value?.message);
  const told = read.value.value;
  if (!told) return read.failure.value ? <Failure why={read.failure.value} again={read.again} /> : <Waiting />;
  // Another node may be of another version.
  const one = { ...told.message, attempts: Array.isArray(told.message.attempts) ? told.message.attempts : [] };
  return (
    <>
      <div class="columns">
        <section>
          <h2>What happened to {shortId(one.messageId)}</h2>
          <Timeline one={one} links={false} elsewhere={stepsElsewhere(life.value.value)} />
        </section>
        <section>
          <h2>About it</h2>
          <FactList
            facts={[
              ["Message", one.messageId],
              ["Status", <StatusMark status={one.status} />],
              ["Destination", one.destination],
              ["Endpoint", one.endpoint],
              ["Correlation", one.correlationId],
              ["Order key", one.orderKey],
            ]}
          />
          <p>
            To read its payload or to change it, open it{" "}
            <a href={`${told.url}${messageLink(one.messageId)}`} target="_blank" rel="noreferrer">
              in the desk of '{name}'
            </a>
            .
          </p>
        </section>
      </div>
      <Elsewhere life={life} />
    </>
  );
}

function NodePage({ name }: { name: string }) {
  const read = useLoaded(
    () => get<{ node: WatchedNode; history: LightSpan[] }>(`/_rf/nodes/${encodeURIComponent(name)}?limit=100`),
    10000,
  );
  const told = read.value.value;
  const message = filters.value.get("message");
  if (!told)
    return (
      <NotShown what="node" why={read.failure.value}>
        <a href="/desk/nodes">All nodes</a>
      </NotShown>
    );
  const one = told.node;
  return (
    <>
      <div class="title">
        <h1 class="whole">{one.name}</h1>
        <LightWords one={one} />
      </div>
      <Failure why={read.failure.value} again={read.again} />
      {message && <OthersMessage key={message} name={name} id={message} />}
      <section>
        <FactList
          facts={[
            ["Address", one.url],
            ["Open", <DeskLink one={one} />],
            ["Service", one.service],
            ["Version", one.version],
            ["Last asked", <Time at={one.askedAt} />],
            ["Last seen", <Time at={one.seenAt} />],
          ]}
        />
      </section>
      <section>
        <h2>Its light, the newest first</h2>
        <Strip name={name} />
        <Table
          list
          heads={["Light", { text: "Why", as: "wide" }, { text: "From", as: "number" }, { text: "To", as: "number" }]}
          rows={told.history}
          row={(each) => (
            <tr key={each.seq} data-row tabIndex={-1}>
              <td>
                <span class="light-words">
                  <Lamp light={each.light} />
                  <span>{words[each.light]}</span>
                </span>
              </td>
              <td class="wide">{each.reasons.join("; ")}</td>
              <td class="number" data-label="from">
                <Time at={each.from} />
              </td>
              <td class="number" data-label="to">
                <Time at={each.to} />
              </td>
            </tr>
          )}
        />
      </section>
    </>
  );
}

export const nodes: DeskPage = {
  name: "nodes",
  title: "Nodes",
  needs: "GET /_rf/nodes/{node}",
  show: () => <Nodes />,
  showOne: (name) => <NodePage name={name} />,
};
