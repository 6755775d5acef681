import { useSignal } from "@preact/signals";
import { get, post, query } from "../api";
import { count, plural } from "../format";
import { useLoaded } from "../load";
import { look } from "../node";
import type { DeskPage } from "../page";
import { usePaged } from "../paged";
import { filters } from "../route";
import type { Job, JobState, Queue } from "../types";
import { attempt, Dialog, Empty, Failure, More, Time, Waiting } from "../ui";
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
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>Queue</th>
            <th class="number">Waiting</th>
            <th class="number">Oldest</th>
            <th class="number">At work</th>
            <th class="number">Workers</th>
            <th class="number">Parked</th>
            <th class="number">Given up</th>
            {onRetry && (
              <th>
                <span class="unseen">What to do</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {all.map((each) => (
            <Row key={each.endpoint} one={each} onRetry={onRetry && (() => onRetry(each))} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RetryAll({ one, onClose }: { one: Queue; onClose: (changed: boolean) => void }) {
  const retry = async (event: SubmitEvent) => {
    event.preventDefault();
    const done = await attempt(async () => {
      const told = await post<{ count: number }>("/_rf/queue/retry", { endpoint: one.endpoint });
      await look();
      return `${plural(told.count, "job")} of '${one.endpoint}' may be taken again.`;
    });
    if (done) onClose(true);
  };
  return (
    <Dialog title={`Retry what '${one.endpoint}' has given up`} onClose={() => onClose(false)}>
      <form onSubmit={retry}>
        <p class="preview">
          <strong>{count(one.givenUp)}</strong> {one.givenUp === 1 ? "job" : "jobs"}
        </p>
        <p>They may be taken at once, each with all its attempts.</p>
        {one.parked > 0 && (
          <p>
            {plural(one.parked, "job")} of the same order keys {one.parked === 1 ? "follows" : "follow"} when these
            are done.
          </p>
        )}
        <div class="actions">
          <button type="button" onClick={() => onClose(false)}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Retry {count(one.givenUp)}
          </button>
        </div>
      </form>
    </Dialog>
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
  const { rows, next, failure, more, again } = usePaged<Job>(
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
      <Failure why={failure} again={again} />
      {!rows && !failure && <Waiting />}
      {rows?.length === 0 && (
        <Empty title={narrowed ? "No job fits these filters" : "No job waits"}>
          <p>
            A job is here until a worker has done it. {narrowed && <a href="/desk/queues">Show all</a>}
          </p>
        </Empty>
      )}
      {rows && rows.length > 0 && (
        <div class="scroll">
          <table class="list">
            <thead>
              <tr>
                <th>Job</th>
                <th>State</th>
                <th>Queue</th>
                <th class="number">Attempts</th>
                <th>Worker</th>
                <th class="wide">Why</th>
                <th class="number">Came</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((each) => (
                <JobRow key={each.seq} one={each} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <More next={next} onMore={more} label="Later ones" />
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
