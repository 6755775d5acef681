import { useSignal } from "@preact/signals";
import { get, post, wordsOf } from "../api";
import { count, pretty } from "../format";
import { NotShown } from "../listing";
import { useLoaded } from "../load";
import { look } from "../node";
import type { Job, JobState } from "../types";
import { attempt, CopyButton, FactList, Failure, FormDialog, Time } from "../ui";

const stateWord: Record<JobState, string> = { waiting: "waiting", taken: "at work", "given-up": "given up" };
const stateLight: Partial<Record<JobState, string>> = { "given-up": "red" };

export function JobMark({ one }: { one: Job }) {
  if (one.waitsBehind) return <span class="mark yellow">parked</span>;
  return <span class={`mark ${stateLight[one.state] ?? ""}`}>{stateWord[one.state]}</span>;
}

export function jobLink(seq: number): string {
  return `/desk/queues/${seq}`;
}

function jobPath(seq: string, verb = ""): string {
  return `/_rf/queue/jobs/${encodeURIComponent(seq)}${verb && `/${verb}`}`;
}

function Finish({ one, onClose }: { one: Job; onClose: (changed: boolean) => void }) {
  const response = useSignal("");
  const finish = async () => {
    const done = await attempt(async () => {
      const given = response.value.trim();
      await post(jobPath(String(one.seq), "finish"), given ? { response: given } : undefined);
      await look();
      return `Job ${one.seq} is ended.`;
    });
    if (done) onClose(true);
  };
  return (
    <FormDialog
      title={`Finish job ${one.seq} in place of a worker`}
      verb="Finish"
      onSubmit={finish}
      onClose={() => onClose(false)}
    >
      <p>It is taken from the queue as if a worker had done it. What follows of its order key goes on. This cannot be undone.</p>
      {one.messageType === "Command" && (
        <label>
          The Response to '{one.sourceServiceId}'; null if empty
          <textarea
            value={response.value}
            onInput={(event) => (response.value = event.currentTarget.value)}
            placeholder='{"shipped": true}'
            rows={4}
          />
        </label>
      )}
    </FormDialog>
  );
}

function Why({ one }: { one: Job }) {
  if (one.waitsBehind)
    return (
      <p>
        It waits behind <a href={jobLink(one.waitsBehind.seq)}>job {one.waitsBehind.seq}</a> of its order key, which
        was given up <Time at={one.waitsBehind.givenUpAt} />. Retry or finish that one.
      </p>
    );
  if (one.state === "given-up")
    return (
      <p>
        It was given up <Time at={one.givenUpAt} /> after {count(one.attempts)}{" "}
        {one.attempts === 1 ? "attempt" : "attempts"}; no worker gets it until you retry it.
      </p>
    );
  if (one.state === "taken")
    return (
      <p>
        '{one.takenBy}' has it; its time ends <Time at={one.freeAt} />.
      </p>
    );
  return one.freeAt ? (
    <p>
      It was put off and may be taken <Time at={one.freeAt} />.
    </p>
  ) : (
    <p>It waits for a worker to take it.</p>
  );
}

function Payload({ seq, told }: { seq: string; told: Job | null }) {
  const read = useSignal<Job | null>(null);
  const failure = useSignal("");
  const show = async () => {
    try {
      failure.value = "";
      read.value = await get<Job>(`${jobPath(seq)}?payload=true`);
    } catch (thrown) {
      failure.value = wordsOf(thrown);
    }
  };
  const payload = read.value?.payload;
  return (
    <section>
      <h2>Payload</h2>
      <Failure why={failure.value} />
      {payload === undefined ? (
        <p>
          <button type="button" onClick={show}>
            Show the payload
          </button>{" "}
          <span class="quiet">
            {count(told?.payloadSize ?? 0)} characters. Needs a key with the right to payloads.
          </span>
        </p>
      ) : (
        <>
          {read.value?.payloadEncoding && <p class="quiet">Not text; shown as {read.value.payloadEncoding}.</p>}
          <pre class="payload" tabIndex={0}>
            {pretty(payload)}
          </pre>
          <CopyButton text={payload} label="Copy the payload" />
        </>
      )}
    </section>
  );
}

export function JobPage({ seq }: { seq: string }) {
  const read = useLoaded(() => get<Job>(jobPath(seq)), 3000);
  const finishing = useSignal(false);
  const one = read.value.value;
  if (!one || read.failure.value)
    return (
      <NotShown what="job" why={read.failure.value}>
        A job that is done is gone. <a href="/desk/queues">All queues</a>
      </NotShown>
    );
  const retry = () =>
    attempt(async () => {
      await post(jobPath(seq, "retry"));
      read.again();
      await look();
      return `Job ${one.seq} may be taken again.`;
    });
  return (
    <>
      <div class="title">
        <h1>Job {one.seq}</h1>
        <JobMark one={one} />
      </div>
      {one.state !== "taken" && (
        <div class="chosen-bar">
          {one.state === "given-up" && (
            <button type="button" class="primary" onClick={retry}>
              Retry
            </button>
          )}
          <button type="button" onClick={() => (finishing.value = true)}>
            Finish…
          </button>
        </div>
      )}
      <div class="columns">
        <section>
          <h2>How it is</h2>
          <Why one={one} />
          {one.error && <pre class="error">{one.error}</pre>}
        </section>
        <section>
          <h2>About it</h2>
          <FactList
            facts={[
              ["Queue", <a href={`/desk/queues?endpoint=${encodeURIComponent(one.endpoint)}`}>{one.endpoint}</a>],
              ["From", one.sourceServiceId],
              ["Message", <span class="whole">{one.messageId}</span>],
              ["Kind", one.messageType],
              ["Came", <Time at={one.receivedAt} />],
              ["Attempts", count(one.attempts)],
              ["Last worker", one.takenBy],
              ["Correlation", one.correlationId],
              ["Tenant", one.tenant],
              ["Order key", one.orderKey],
              ["Content type", one.contentType],
            ]}
          />
          <p>
            <CopyButton text={`posthorn queue show ${one.seq}`} label="Copy as a command" />
          </p>
        </section>
      </div>
      <Payload seq={seq} told={one} />
      {finishing.value && (
        <Finish
          one={one}
          onClose={(changed) => {
            finishing.value = false;
            if (changed) read.again();
          }}
        />
      )}
    </>
  );
}
