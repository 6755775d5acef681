import { useSignal } from "@preact/signals";
import { get, post, query } from "../api";
import { count, plural } from "../format";
import { Listing, Table } from "../listing";
import { useLoaded } from "../load";
import { look } from "../node";
import type { DeskPage } from "../page";
import { usePaged } from "../node_paged";
import { filters } from "../route";
import type { Job, JobState, Queue } from "../types";
import { attempt, Empty, Failure, FormDialog, Time, Waiting } from "../ui";
import { Choice, Text } from "./filters";
import { jobLink, JobMark, JobPage } from "./job";

function jobsLink(endpoint: string, state?: JobState): string {
  return `/desk/queues${query({ endpoint, state })}`;
}

function useQueues() {
  return useLoaded(() => get<{ queues: Queue[] }>("/_rf/queue"), 3000);
}

function Row({ one, onRetry }: { one: Queue; onRetry?: () => void }) {
  return (
    <tr data-row tabIndex={-1}>
      <td class="clip">
        <a href={jobsLink(one.endpoint)} title={one.endpoint}>
          {one.endpoint}
        </a>
      </td>
      <td class="number" data-label="waiting">{count(one.waiting)}</td>
      <td class="number" data-label="oldest">
        <Time at={one.oldestWaitingSince} />
      </td>
      <td class="number" data-label="at work">{count(one.taken)}</td>
      <td class="number" data-label="workers">{count(one.workers)}</td>
      <td class="number" data-label="parked" title="They wait behind one of their order key that was given up">
        {one.parked > 0 ? count(one.parked) : "–"}
      </td>
      <td class="number" data-label="given up">
        {one.givenUp > 0 ? (
          <a class="bad" href={jobsLink(one.endpoint, "given-up")}>
            {count(one.givenUp)}
          </a>
        ) : (
          "–"
        )}
      </td>
      {onRetry && (
        <td class="buttons">
          {one.givenUp > 0 && (
            <button type="button" onClick={onRetry}>
              Retry all…
            </button>
          )}
        </td>
      )}
    </tr>
  );
}

function QueueTable({ all, onRetry }: { all: Queue[]; onRetry?: (one: Queue) => void }) {
  return (
    <Table
      heads={[
        "Queue",
        { text: "Waiting", as: "number" },
        { text: "Oldest", as: "number" },
        { text: "At work", as: "number" },
        { text: "Workers", as: "number" },
        { text: "Parked", as: "number" },
        { text: "Given up", as: "number" },
        ...(onRetry ? [{ text: "What to do", as: "unseen" as const }] : []),
      ]}
      rows={all}
      row={(each) => <Row key={each.endpoint} one={each} onRetry={onRetry && (() => onRetry(each))} />}
    />
  );
}

function RetryAll({ one, onClose }: { one: Queue; onClose: (changed: boolean) => void }) {
  const retry = async () => {
    const done = await attempt(async () => {
      const told = await post<{ count: number }>("/_rf/queue/retry", { endpoint: one.endpoint });
      await look();
      return `${plural(told.count, "job")} of '${one.endpoint}' may be taken again.`;
    });
    if (done) onClose(true);
  };
  return (
    <FormDialog
      title={`Retry what '${one.endpoint}' has given up`}
      verb={`Retry ${count(one.givenUp)}`}
      onSubmit={retry}
      onClose={() => onClose(false)}
    >
      <p class="preview">
        <strong>{count(one.givenUp)}</strong> {one.givenUp === 1 ? "job" : "jobs"}
      </p>
      <p>They may be taken at once, each with all its attempts. This cannot be undone.</p>
      {one.parked > 0 && (
        <p>
          {plural(one.parked, "job")} of the same order keys {one.parked === 1 ? "follows" : "follow"} when these are
          done.
        </p>
      )}
    </FormDialog>
  );
}

function JobRow({ one }: { one: Job }) {
  return (
    <tr data-row tabIndex={-1}>
      <td class="id">
        <a href={jobLink(one.seq)}>{one.seq}</a>
      </td>
      <td>
        <JobMark one={one} />
      </td>
      <td class="clip">{one.endpoint}</td>
      <td class="number" data-label="attempts">{one.attempts}</td>
      <td class="clip">{one.state === "taken" ? one.takenBy : ""}</td>
      <td class="wide clip" title={one.error}>
        {one.waitsBehind ? (
          <>
            behind <a href={jobLink(one.waitsBehind.seq)}>job {one.waitsBehind.seq}</a> of order key '{one.orderKey}'
          </>
        ) : (
          (one.error ?? "")
        )}
      </td>
      <td class="number">
        <Time at={one.receivedAt} />
      </td>
    </tr>
  );
}

function Jobs() {
  const page = usePaged<Job>(
    (after) =>
      `/_rf/queue/jobs${query({
        endpoint: filters.value.get("endpoint"),
        state: filters.value.get("state"),
        limit: 50,
        after,
      })}`,
    "jobs",
  );
  const narrowed = ["endpoint", "state"].some((name) => filters.value.has(name));
  return (
    <section>
      <h2>Jobs, the oldest first</h2>
      <div class="filters">
        <Text name="endpoint" label="Queue" />
        <Choice
          name="state"
          label="State"
          options={[["", "any"], ["waiting", "waiting"], ["taken", "at work"], ["given-up", "given up"]]}
        />
      </div>
      <Listing
        from={page}
        empty={
          <Empty title={narrowed ? "No job fits these filters" : "No job waits"}>
            <p>
              A job is here until a worker has done it. {narrowed && <a href="/desk/queues">Show all</a>}
            </p>
          </Empty>
          }
        heads={[
          "Job",
          "State",
          "Queue",
          { text: "Attempts", as: "number" },
          "Worker",
          { text: "Why", as: "wide" },
          { text: "Came", as: "number" },
        ]}
        row={(each) => <JobRow key={each.seq} one={each} />}
        more="Later ones"
      />
    </section>
  );
}

function Queues() {
  const read = useQueues();
  const retrying = useSignal<Queue | null>(null);
  const all = read.value.value?.queues;
  return (
    <>
      <section>
        <h1>Queues</h1>
        <Failure why={read.failure.value} again={read.again} />
        {!all && !read.failure.value && <Waiting />}
        {all?.length === 0 && (
          <Empty title="There is no queue">
            <p>
              An endpoint with <code>Ship = "queue"</code> under <code>[handlers]</code> puts its messages into a
              table, each exactly once. Workers of yours take them from there, by SQL or over HTTP, when they are
              ready.
            </p>
          </Empty>
        )}
        {all && all.length > 0 && <QueueTable all={all} onRetry={(one) => (retrying.value = one)} />}
      </section>
      {all && all.length > 0 && <Jobs />}
      {retrying.value && (
        <RetryAll
          one={retrying.value}
          onClose={(changed) => {
            retrying.value = null;
            if (changed) read.again();
          }}
        />
      )}
    </>
  );
}

/// Nothing where there are no queues: most nodes have none.
function QueuesOnOverview() {
  const all = useQueues().value.value?.queues ?? [];
  if (all.length === 0) return <></>;
  return (
    <section>
      <h2>Queues</h2>
      <QueueTable all={all} />
    </section>
  );
}

export const queues: DeskPage = {
  name: "queues",
  title: "Queues",
  needs: "GET /_rf/queue",
  show: () => <Queues />,
  showOne: (seq) => <JobPage seq={seq} />,
  onOverview: () => <QueuesOnOverview />,
};
