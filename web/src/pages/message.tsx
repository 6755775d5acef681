import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { get, query, wordsOf } from "../api";
import { asCurl, asSql, asTest } from "../copies";
import { bytes, pretty, upTo } from "../format";
import { NotShown } from "../listing";
import { useLoaded } from "../load";
import { health } from "../node";
import { messageLink } from "../route";
import type { Detail, Light } from "../types";
import { CopyButton, FactList, Failure, StatusMark, Time } from "../ui";
import { ChangeDialog, type Plan } from "./change_dialog";
import { EditDialog } from "./edit_dialog";
import { Elsewhere, stepsElsewhere, useLife, type StepElsewhere } from "./elsewhere";
import { LinkList } from "./links";
import { followersOf } from "./parked";

interface Step {
  at: string | undefined;
  kind: Light | "";
  title: string;
  text?: string;
  same?: boolean; // The text is that of the step before.
  link?: string; // To the message that it is about.
}

/// A message's life as far as the row tells it. Pure.
function lifeOf(one: Detail): Step[] {
  const steps: Step[] = [{ at: one.createdAt, kind: "", title: "Committed with its transaction" }];
  if (one.deliverAt) steps.push({ at: one.deliverAt, kind: "", title: "Not to be sent before" });
  for (const [i, each] of one.attempts.entries()) {
    const same = each.error === one.attempts[i - 1]?.error;
    steps.push({ at: each.at, kind: "yellow", title: `Attempt ${each.attempt} failed`, text: each.error, same });
  }
  switch (one.status) {
    case "Sent":
      steps.push({ at: one.sentAt, kind: "green", title: `'${one.destination}' has it` });
      break;
    case "Dead":
      steps.push({ at: one.closedAt, kind: "red", title: "Given up", text: one.attempts.length ? "" : one.causeText });
      break;
    case "Expired":
      steps.push({ at: one.closedAt ?? one.expiresAt, kind: "yellow", title: "Expired before it was sent" });
      break;
    case "Resolved":
      steps.push({ at: one.closedAt, kind: "", title: "Resolved by a person", text: one.resolution });
      break;
    case "Pending":
      if (one.waitsBehind) {
        const link = messageLink(one.waitsBehind.messageId);
        steps.push({ at: one.waitsBehind.since, kind: "yellow", title: "Waits behind one that was given up", link });
        break;
      }
      steps.push({ at: one.nextRetryAt, kind: "", title: one.retryCount > 0 ? "Next attempt" : "To be sent" });
      break;
  }
  return steps;
}

export function Timeline(props: { one: Detail; links?: boolean; elsewhere?: StepElsewhere[] }) {
  const own = lifeOf(props.one).map((step) => (props.links === false ? { ...step, link: undefined } : step));
  const steps: Step[] = [...own, ...(props.elsewhere ?? [])];
  return (
    <ol class="timeline">
      {steps.map((step, i) => (
        <li key={i} class={step.kind}>
          <div class="head">
            <strong>{step.link ? <a href={step.link}>{step.title}</a> : step.title}</strong>
            <Time at={step.at} />
          </div>
          {step.same && <span class="quiet">the same error</span>}
          {step.text && !step.same && <pre class="error">{step.text}</pre>}
        </li>
      ))}
    </ol>
  );
}

/// A link to all messages that have the same.
function Shared({ name, value, text }: { name: string; value: string; text?: string }) {
  return <a href={`/desk/messages${query({ [name]: value })}`}>{text ?? value}</a>;
}

function Facts({ one }: { one: Detail }) {
  const facts: Array<[string, ComponentChildren]> = [
    ["Destination", one.destination],
    ["Endpoint", one.endpoint],
    ["Kind", one.messageType],
    ["Attempts used", `${one.retryCount} of ${one.maxRetries < 0 ? "any number" : one.maxRetries + 1}`],
    ["Expires", <Time at={one.expiresAt} />],
    ["Correlation", one.correlationId && <Shared name="correlationId" value={one.correlationId} />],
    ["Caused by", one.causationId && <a href={messageLink(one.causationId)}>{one.causationId}</a>],
    ["Tenant", one.tenant],
    ["Order key", one.orderKey && <Shared name="orderKey" value={one.orderKey} />],
    ["Caused", <Shared name="causationId" value={one.messageId} text="what its handling sent" />],
    ["Payload", `${bytes(one.payloadBytes)}, ${one.contentType || "no content type"}`],
  ];
  return <FactList facts={facts} />;
}

function Payload({ one, onRead }: { one: Detail; onRead: (whole: Detail) => void }) {
  const failure = useSignal("");
  const read = async () => {
    try {
      failure.value = "";
      onRead(await get<Detail>(`/_rf/dead/${one.messageId}?payload=true`));
    } catch (thrown) {
      failure.value = wordsOf(thrown);
    }
  };
  return (
    <section>
      <h2>Payload</h2>
      <Failure why={failure.value} />
      {one.payload === undefined ? (
        <p>
          <button type="button" onClick={read}>
            Show the payload
          </button>{" "}
          <span class="quiet">Needs a key with the right to payloads.</span>
        </p>
      ) : (
        <>
          <pre class="payload" tabIndex={0}>
            {pretty(one.payload)}
          </pre>
          {one.headers && (
            <>
              <h3>Headers</h3>
              <pre class="payload">{pretty(one.headers)}</pre>
            </>
          )}
          <div class="chosen-bar">
            <CopyButton text={one.payload} label="Copy the payload" />
            <CopyButton text={asSql(one)} label="Copy as SQL" />
            <CopyButton text={asTest(one, health.value?.service ?? "sender")} label="Copy as a test" />
          </div>
        </>
      )}
    </section>
  );
}

function Actions(props: { one: Detail; onPlan: (verb: Plan["verb"]) => void; onEdit: () => void }) {
  const { status } = props.one;
  if (status === "Resolved")
    return (
      <div class="chosen-bar">
        <button type="button" onClick={() => props.onPlan("reopen")}>
          Reopen…
        </button>
      </div>
    );
  if (status !== "Dead" && status !== "Expired") return null;
  return (
    <div class="chosen-bar">
      <button type="button" class="primary" onClick={() => props.onPlan("requeue")}>
        Requeue…
      </button>
      <button type="button" onClick={props.onEdit}>
        Edit and requeue…
      </button>
      <button type="button" onClick={() => props.onPlan("resolve")}>
        Resolve…
      </button>
      <button type="button" onClick={() => props.onPlan("discard")}>
        Discard…
      </button>
    </div>
  );
}

/// What waits behind it, so that one sees what requeueing or resolving it sets free.
function Followers({ id }: { id: string }) {
  const key = followersOf(id);
  if (!key) return null;
  const isOne = key.waiting === 1 && !key.waitingAtLeast;
  return (
    <p class="note" role="note">
      {upTo(key.waiting, key.waitingAtLeast)} {isOne ? "message" : "messages"} of its order key '{key.orderKey}'{" "}
      {isOne ? "is parked behind it and follows" : "are parked behind it and follow"} when it is requeued
      and sent, or resolved.
    </p>
  );
}

export function MessagePage({ id }: { id: string }) {
  const read = useLoaded(() => get<Detail>(`/_rf/dead/${encodeURIComponent(id)}`), 3000, 1000);
  const life = useLife(id, () => read.value.value);
  const whole = useSignal<Detail | null>(null);
  const plan = useSignal<Plan | null>(null);
  const editing = useSignal<Detail | null>(null);
  const one = read.value.value;
  if (!one)
    return (
      <NotShown what="message" why={read.failure.value}>
        Sent messages are deleted after their retention. <a href="/desk/messages">All messages</a>
      </NotShown>
    );
  // The payload that was read belongs to the state it was read in.
  const shown = whole.value?.state === one.state ? whole.value : one;
  const close = (changed: boolean) => {
    plan.value = null;
    editing.value = null;
    if (changed) read.again();
  };
  return (
    <>
      <div class="title">
        <h1 class="whole">{one.messageId}</h1>
        <StatusMark status={one.status} />
      </div>
      <Failure why={read.failure.value} again={read.again} />
      <Actions
        one={one}
        onPlan={(verb) => (plan.value = { verb, some: [one], wanted: { status: one.status } })}
        onEdit={() => (editing.value = shown)}
      />
      <Followers id={one.messageId} />
      <div class="columns">
        <section>
          <h2>What happened</h2>
          <Timeline one={one} elsewhere={stepsElsewhere(life.value.value)} />
        </section>
        <section>
          <h2>About it</h2>
          <Facts one={one} />
          <p>
            <CopyButton text={`posthorn outbox show ${one.messageId}`} label="Copy as a command" />{" "}
            <CopyButton text={asCurl(one, location.origin)} label="Copy as curl" />
          </p>
        </section>
      </div>
      <section>
        <h2>Causes and effects</h2>
        <LinkList id={one.messageId} />
      </section>
      <Elsewhere life={life} />
      <Payload one={shown} onRead={(seen) => (whole.value = seen)} />
      {plan.value && <ChangeDialog plan={plan.value} onClose={close} />}
      {editing.value && <EditDialog one={editing.value} onClose={close} />}
    </>
  );
}
