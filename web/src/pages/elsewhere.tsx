// What other nodes know of a message: who sent it, where it took effect, and what it caused there.

import { useComputed } from "@preact/signals";
import { get, query } from "../api";
import { isMessageId } from "../find";
import { plural } from "../format";
import { useLoaded, type Loaded } from "../load";
import { routes } from "../node";
import { inboxLink, nodeLink } from "../route";
import type { Life, Status, Trace } from "../types";
import { Failure, StatusMark, Time } from "../ui";

/// The message whose life is asked for, as far as it is known; null while it is being read.
type Known = { causationId?: string; status: string } | null | undefined;

/// What other nodes know of it, asked anew when its status changes; null where there are none.
export function useLife(id: string, known: () => Known): Loaded<Life | null> {
  // One text, so that what is read again and is the same asks none of them.
  const state = useComputed(() => {
    const one = known();
    if (!one) return null;
    return `${one.status} ${isMessageId.test(one.causationId ?? "") ? one.causationId : ""}`;
  });
  return useLoaded<Life | null>(() => {
    if (state.value === null || !routes.value?.has("GET /_rf/life/{messageId}")) return Promise.resolve(null);
    const [, cause] = state.value.split(" ");
    return get<Life>(`/_rf/life/${encodeURIComponent(id)}${query({ cause })}`);
  }, 10000);
}

export interface StepElsewhere {
  at: string | undefined;
  kind: "green" | "";
  title: string;
  link?: string;
}

/// What happened to it elsewhere, for its timeline. Pure.
export function stepsElsewhere(life: Life | null): StepElsewhere[] {
  const steps: StepElsewhere[] = [];
  for (const each of life?.traces ?? []) {
    if (each.what !== "taken") continue;
    const handled = each.status === "handled";
    const title = handled ? `Took effect at '${each.node}'` : `A handler of '${each.node}' is at it`;
    steps.push({ at: each.at, kind: handled ? "green" : "", title });
    const caused = (life?.traces ?? []).filter((other) => other.what === "caused" && other.node === each.node);
    const [first] = caused;
    if (first)
      steps.push({
        at: first.at,
        kind: "",
        title: `'${each.node}' sent ${plural(caused.length, "message")} because of it`,
        link: caused.length === 1 ? nodeLink(first.node, first.messageId) : undefined,
      });
  }
  return steps;
}

const labels: Record<Trace["what"], string> = {
  sent: "Sent by",
  taken: "Taken in by",
  caused: "Led to",
  cause: "Caused by",
};

/// What the receiver keeps of it is shown by its own desk.
function Inbox({ one, url }: { one: Trace; url: string }) {
  return (
    <>
      <a href={`${url}${inboxLink(one.messageId)}`} target="_blank" rel="noreferrer">
        '{one.node}'
      </a>
      : {one.endpoint} from {one.service}, {one.status} <Time at={one.at} />
    </>
  );
}

function Outbox({ one }: { one: Trace }) {
  return (
    <>
      '{one.node}':{" "}
      <a href={nodeLink(one.node, one.messageId)}>
        {one.endpoint} to {one.service}
      </a>{" "}
      <StatusMark status={one.status as Status} />{" "}
      <span class="quiet">
        <Time at={one.at} />
      </span>
    </>
  );
}

function isOfInbox(one: Trace) {
  return one.status === "handled" || one.status === "at work";
}

export function Elsewhere({ life }: { life: Loaded<Life | null> }) {
  const told = life.value.value;
  if (!told) return life.failure.value ? <Failure why={life.failure.value} again={life.again} /> : null;
  const urls = new Map(told.nodes.map((each) => [each.node, each.url]));
  const silent = told.nodes.filter((each) => !each.answered);
  const more = told.nodes.filter((each) => each.more);
  return (
    <section>
      <h2>At other nodes</h2>
      <Failure why={life.failure.value} again={life.again} />
      {told.traces.length === 0 && <p class="quiet">None of the nodes that answered knows of it.</p>}
      <ul class="links elsewhere">
        {told.traces.map((each) => (
          <li key={`${each.node} ${each.what} ${each.service} ${each.messageId}`}>
            <span class="label">{labels[each.what]}</span>
            <span>{isOfInbox(each) ? <Inbox one={each} url={urls.get(each.node) ?? ""} /> : <Outbox one={each} />}</span>
          </li>
        ))}
      </ul>
      {silent.map((each) => (
        <p key={each.node} class="note" role="note">
          '{each.node}' did not answer, so what it knows is not here: {each.why}
        </p>
      ))}
      {more.length > 0 && (
        <p class="quiet">
          There may be more at {more.map((each) => `'${each.node}'`).join(", ")}: what was sent long after it is not
          looked at.
        </p>
      )}
    </section>
  );
}

/// The same of a message of which no more than its id is known.
export function ElsewhereOf({ id }: { id: string }) {
  return <Elsewhere life={useLife(id, () => ({ status: "" }))} />;
}
