// What is asked and shown before and after something is done about an endpoint.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { wordsOf } from "../answer";
import { count, plural, pretty, upTo } from "../format";
import { useLoaded } from "../load";
import { attempt, CopyButton, Dialog, Failure, FormDialog, Time, Waiting } from "../ui";
import { useWebhooks } from "../webhook_ask";
import type { DeliveryAttempt, Endpoint, SentRequest, TestResult } from "../webhook_types";

function Close({ onClose, children }: { onClose: () => void; children?: ComponentChildren }) {
  return (
    <div class="actions">
      {children}
      <button type="button" class="primary" onClick={onClose}>
        Close
      </button>
    </div>
  );
}

/// The only time that a secret is seen.
export function SecretDialog({ secret, open, onClose }: { secret: string; open?: string; onClose: () => void }) {
  const ask = useWebhooks();
  return (
    <Dialog title="Its secret, shown this once" onClose={onClose}>
      <p>The receiver verifies signatures with it. Keep it now: it cannot be read again, only replaced.</p>
      <pre class="payload" tabIndex={0} data-secret>
        {secret}
      </pre>
      <p>
        <CopyButton text={secret} label="Copy the secret" />
        {open && <a href={ask.link(open)}>Open the endpoint</a>}
      </p>
      <Close onClose={onClose} />
    </Dialog>
  );
}

function Request({ sent }: { sent: SentRequest }) {
  const lines = Object.entries(sent.headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <>
      <h3>Request</h3>
      <pre class="payload" tabIndex={0} aria-label="Headers">
        {sent.url && `POST ${sent.url}\n`}
        {lines.join("\n")}
      </pre>
      <pre class="payload" tabIndex={0} aria-label="Body">
        {pretty(sent.body)}
      </pre>
    </>
  );
}

/// The answer of an endpoint, or why there is none.
function Answer({ of }: { of: { httpStatus?: number; tookMs: number; answer?: string; error?: string } }) {
  return (
    <>
      <h3>Answer</h3>
      <p>
        {of.httpStatus === undefined ? "None" : `HTTP ${of.httpStatus}`} after {count(of.tookMs)} ms
      </p>
      {of.error && <pre class="error">{of.error}</pre>}
      {of.answer && (
        <pre class="payload" tabIndex={0} aria-label="Answer">
          {of.answer}
        </pre>
      )}
    </>
  );
}

export function TestDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const ask = useWebhooks();
  const sent = useSignal<TestResult | null>(null);
  const failure = useSignal("");
  const send = async () => {
    failure.value = "";
    try {
      sent.value = await ask.post<TestResult>(`/${id}/test`);
    } catch (thrown) {
      failure.value = wordsOf(thrown);
    }
  };
  useEffect(() => void send(), []);
  const told = sent.value;
  return (
    <Dialog title="Test delivery" onClose={onClose} wide>
      <Failure why={failure.value} again={send} />
      {!told && !failure.value && <Waiting />}
      {told && (
        <>
          <p>
            {told.delivered ? (
              <span class="mark green">taken</span>
            ) : (
              <span class="mark red">not taken</span>
            )}
          </p>
          <Answer of={told} />
          <Request sent={told.request} />
        </>
      )}
      <Close onClose={onClose} />
    </Dialog>
  );
}

/// One attempt: what was sent, to those who may read payloads, and what came back.
export function AttemptDialog(props: { id: string; one: DeliveryAttempt; onClose: () => void }) {
  const ask = useWebhooks();
  const { one } = props;
  const again = async () => {
    const done = await attempt(async () => {
      await ask.post(`/${props.id}/deliveries/${one.seq}/retry`);
      return "It will be tried again.";
    });
    if (done) props.onClose();
  };
  const read = useLoaded(() => ask.get<DeliveryAttempt>(`/${props.id}/deliveries/${one.seq}?payload=true`));
  const told = read.value.value;
  return (
    <Dialog title={`Attempt ${one.attempt} of ${one.eventType ?? "an event"}`} onClose={props.onClose} wide>
      <p>
        <Time at={one.at} /> <span class="quiet">event {one.messageId}</span>
      </p>
      <Answer of={one} />
      {read.failure.value && (
        <>
          <h3>Request</h3>
          <Failure why={read.failure.value} />
        </>
      )}
      {!told && !read.failure.value && <Waiting />}
      {told && !told.request && <p class="quiet">The event is past its retention, so what was sent is not known any more.</p>}
      {told?.request && <Request sent={told.request} />}
      {told?.changedSince && (
        <p class="note" role="note">
          The endpoint was changed since: this is what would be sent now, and its signature is left out.
        </p>
      )}
      <Close onClose={props.onClose}>
        {one.state === "dead" && ask.mayChange && (
          <button type="button" onClick={again}>
            Try again
          </button>
        )}
      </Close>
    </Dialog>
  );
}

export function RotateDialog(props: { one: Endpoint; onClose: () => void; onDone: (secret: string) => void }) {
  const ask = useWebhooks();
  const rotate = async () => {
    let secret = "";
    const done = await attempt(async () => {
      // Of a key pair there is the public half alone.
      const told = await ask.post<{ secret?: string; publicKey?: string }>(`/${props.one.id}/rotate`);
      secret = told.secret ?? told.publicKey ?? "";
      return "The endpoint has a new secret.";
    });
    if (done) props.onDone(secret);
  };
  return (
    <FormDialog title="Give it a new secret" verb="Rotate" onSubmit={rotate} onClose={props.onClose}>
      <p>
        The new one is shown once. Requests are signed with both for a while, so that the receiver can change over in
        its own time.
      </p>
    </FormDialog>
  );
}

interface Recoverable {
  dead: number;
  expired: number;
  missing: number;
  missingAtLeast?: boolean;
}

/// What is typed into a field for a time, which is that of the browser's own place.
function moment(local: string): string {
  return new Date(local).toISOString();
}

export function RecoverDialog(props: { one: Endpoint; onClose: (changed: boolean) => void }) {
  const ask = useWebhooks();
  const what = useSignal<"failed" | "missing">("failed");
  const since = useSignal("");
  const until = useSignal("");
  const times = () => {
    const some: Record<string, string> = {};
    if (since.value) some.since = moment(since.value);
    if (until.value) some.until = moment(until.value);
    return some;
  };
  const path = `/${props.one.id}/recover`;
  const read = useLoaded(() => ask.get<Recoverable>(`${path}?${new URLSearchParams(times())}`));
  const seen = read.value.value;
  const failed = seen ? seen.dead + seen.expired : 0;
  const chosen = seen ? (what.value === "failed" ? failed : seen.missing) : undefined;
  const missing = seen && upTo(seen.missing, seen.missingAtLeast);
  const isMore = what.value === "missing" && seen?.missingAtLeast;
  const recover = async () => {
    const done = await attempt(async () => {
      const told = await ask.post<{ recovered: number }>(path, { what: what.value, ...times() });
      return `${plural(told.recovered, "delivery", "deliveries")} will be tried.`;
    });
    if (done) props.onClose(true);
  };
  const choice = (value: "failed" | "missing", text: string) => (
    <label class="choice">
      <input
        type="radio"
        name="what"
        value={value}
        checked={what.value === value}
        onChange={() => (what.value = value)}
      />
      {text}
    </label>
  );
  const time = (text: string, into: typeof since) => (
    <label>
      {text}
      <input
        type="datetime-local"
        step={1}
        value={into.value}
        onInput={(event) => (into.value = event.currentTarget.value)}
      />
    </label>
  );
  return (
    <FormDialog
      title="Send what it missed"
      verb={chosen === undefined ? "Recover" : `Recover ${upTo(chosen, isMore)}`}
      onSubmit={recover}
      onClose={() => props.onClose(false)}
      busy={!chosen || props.one.state === "disabled"}
    >
      <Failure why={read.failure.value} again={read.again} />
      {!seen && !read.failure.value && <Waiting />}
      {seen && choice("failed", `${count(failed)} given up or expired: try again, with all retries`)}
      {seen && choice("missing", `${missing} it has no delivery of, such as those from while it was disabled`)}
      {time("Published since; unless given, since it was made", since)}
      {time("Published before", until)}
      <p>They are sent to where the endpoint is now. This cannot be undone.</p>
      {props.one.state === "disabled" && (
        <p class="note" role="note">
          It is disabled. Enable it first.
        </p>
      )}
    </FormDialog>
  );
}

export function RemoveDialog(props: { one: Endpoint; onClose: () => void; onDone: () => void }) {
  const ask = useWebhooks();
  const busy = useSignal(false);
  const remove = async () => {
    busy.value = true;
    const done = await attempt(async () => {
      await ask.post(`/${props.one.id}/remove`);
      return "The endpoint is deleted.";
    });
    busy.value = false;
    if (done) props.onDone();
  };
  return (
    <FormDialog title="Delete the endpoint" verb="Delete" onSubmit={remove} onClose={props.onClose} busy={busy.value}>
      <p class="whole">
        <strong>{props.one.url}</strong> hears of no event any more, and what waits for it is given up. This cannot be
        undone; to stop it for a while, pause it.
      </p>
    </FormDialog>
  );
}
