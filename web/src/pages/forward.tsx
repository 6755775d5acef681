import { useSignal } from "@preact/signals";
import { get, query, wordsOf } from "../api";
import { bytes, count, duration, plural, shortId } from "../format";
import type { ForwardCategory, HeldStatus, HeldWork } from "../forward_types";
import { Listing, Table } from "../listing";
import { useLoaded } from "../load";
import { look } from "../node";
import type { DeskPage } from "../page";
import { usePaged } from "../node_paged";
import { filters, go } from "../route";
import type { Page } from "../types";
import { attempt, Empty, Failure, FormDialog, Time, Waiting } from "../ui";
import { Choice, Text } from "./filters";
import { heldLink, HeldMark, HeldPage, retryHeld } from "./held";
import { Sites } from "./sites";

function categoryLink(category: string, status?: HeldStatus): string {
  return `/desk/forward${query({ category, status })}`;
}

function useCategories() {
  return useLoaded(() => get<{ categories: ForwardCategory[] }>("/_rf/forward"), 3000);
}

const phaseWords = {
  live: "",
  outage: "a target is out",
  settling: "a target is back, and is given time",
  replaying: "a backlog is replayed",
};

/// How a backlog is worked off, with what is left at the speed of the last minute.
function Replay({ one }: { one: ForwardCategory }) {
  const words = phaseWords[one.phase ?? "live"];
  if (!words) return <>–</>;
  const parts = [
    words,
    one.replayRate !== undefined && `at most ${one.replayRate}/s`,
    one.drainedPerSecond !== undefined && `${one.drainedPerSecond}/s lately`,
    one.secondsLeft !== undefined && `about ${duration(one.secondsLeft * 1000)} left`,
  ];
  return <>{parts.filter(Boolean).join(", ")}</>;
}

function Row({ one, onRetry }: { one: ForwardCategory; onRetry?: () => void }) {
  return (
    <tr data-row tabIndex={-1}>
      <td class="clip">
        <a href={categoryLink(one.category)} title={one.category}>
          {one.category}
        </a>
      </td>
      <td class="number" data-label="waiting">{count(one.waiting)}</td>
      <td class="number" data-label="oldest">
        <Time at={one.oldestWaitingSince} />
      </td>
      <td class="number" data-label="size">{bytes(one.bytes)}</td>
      <td class="number" data-label="parked">
        {one.parked > 0 ? (
          <a class="bad" href={categoryLink(one.category, "parked")}>
            {count(one.parked)}
          </a>
        ) : (
          "–"
        )}
      </td>
      <td class="wide" data-label="backlog">
        <Replay one={one} />
      </td>
      {onRetry && (
        <td class="buttons">
          {one.parked > 0 && (
            <button type="button" onClick={onRetry}>
              Retry all…
            </button>
          )}
        </td>
      )}
    </tr>
  );
}

function CategoryTable({ all, onRetry }: { all: ForwardCategory[]; onRetry?: (one: ForwardCategory) => void }) {
  return (
    <Table
      heads={[
        "Category",
        { text: "Waiting", as: "number" },
        { text: "Oldest", as: "number" },
        { text: "Size", as: "number" },
        { text: "Parked", as: "number" },
        { text: "Backlog", as: "wide" },
        ...(onRetry ? [{ text: "What to do", as: "unseen" as const }] : []),
      ]}
      rows={all}
      row={(each) => <Row key={each.category} one={each} onRetry={onRetry && (() => onRetry(each))} />}
    />
  );
}

/// Retries what is parked now, a page at a time; what is parked anew meanwhile is not tried twice.
async function retryParked(category: string, report: (done: number) => boolean): Promise<string> {
  let done = 0;
  let refused = "";
  let after: number | null = null;
  do {
    const page: Page<HeldWork> = await get<Page<HeldWork>>(
      `/_rf/forward/messages${query({ category, status: "parked", limit: 100, after })}`,
    );
    for (const each of page.messages) {
      try {
        await retryHeld(each.id);
        ++done;
      } catch (thrown) {
        refused = wordsOf(thrown); // Another person was faster, or it has gone.
      }
      if (!report(done)) return refused;
    }
    after = page.next ?? null;
  } while (after !== null);
  return refused;
}

function RetryAll({ one, onClose }: { one: ForwardCategory; onClose: () => void }) {
  const done = useSignal(-1);
  const isOpen = useSignal(true);
  const close = () => {
    isOpen.value = false;
    onClose();
  };
  const retry = async () => {
    await attempt(async () => {
      const refused = await retryParked(one.category, (number) => {
        done.value = number;
        return isOpen.value;
      });
      await look();
      return `${plural(done.value, "operation")} of '${one.category}' ${done.value === 1 ? "is" : "are"} tried again.${refused && ` Not all: ${refused}`}`;
    });
    close();
  };
  return (
    <FormDialog
      title={`Retry what '${one.category}' has parked`}
      verb={`Retry ${count(one.parked)}`}
      busy={done.value >= 0}
      onSubmit={retry}
      onClose={close}
    >
      <p class="preview">
        <strong>{count(one.parked)}</strong> {one.parked === 1 ? "operation" : "operations"}
      </p>
      <p>Each gets all its retries again. What is not wanted any more is discarded one by one. This cannot be undone.</p>
      {done.value >= 0 && <progress max={one.parked} value={done.value} aria-label="How many were retried" />}
    </FormDialog>
  );
}

function HeldRow({ one }: { one: HeldWork }) {
  return (
    <tr data-row tabIndex={-1}>
      <td class="id">
        <a href={heldLink(one.id)} title={one.id}>
          {shortId(one.id)}
        </a>
      </td>
      <td>
        <HeldMark status={one.status} />
      </td>
      <td class="clip">{one.category}</td>
      <td class="clip" title={one.target}>
        {one.target}
      </td>
      <td class="number" data-label="retries">{count(one.retryCount)}</td>
      <td class="wide clip" title={one.lastError}>
        {one.lastError ?? ""}
      </td>
      <td class="number">
        <Time at={one.createdAt} />
      </td>
    </tr>
  );
}

function Held() {
  const page = usePaged<HeldWork>(
    (after) =>
      `/_rf/forward/messages${query({
        category: filters.value.get("category"),
        status: filters.value.get("status"),
        limit: 50,
        after,
      })}`,
  );
  const narrowed = ["category", "status"].some((name) => filters.value.has(name));
  return (
    <section>
      <h2>Held work, the oldest first</h2>
      <div class="filters">
        <Text name="category" label="Category" />
        <Choice
          name="status"
          label="Status"
          options={[["", "any"], ["waiting", "waiting"], ["parked", "parked"]]}
        />
      </div>
      <Listing
        from={page}
        empty={
          <Empty title={narrowed ? "Nothing fits these filters" : "Nothing is held"}>
            <p>
              Work is here until its target has taken it. {narrowed && <a href="/desk/forward">Show all</a>}
            </p>
          </Empty>
        }
        heads={[
          "Id",
          "Status",
          "Category",
          "Target",
          { text: "Retries", as: "number" },
          { text: "Why", as: "wide" },
          { text: "Stored", as: "number" },
        ]}
        row={(each) => <HeldRow key={each.id} one={each} />}
        more="Later ones"
      />
    </section>
  );
}

/// Where an operation stands, by the id that its script was given.
function Track() {
  const id = useSignal("");
  const open = (event: SubmitEvent) => {
    event.preventDefault();
    if (id.value.trim()) go(heldLink(id.value.trim()));
  };
  return (
    <form class="filters" onSubmit={open}>
      <label class="roomy">
        Where does an operation stand?
        <input
          value={id.value}
          onInput={(event) => (id.value = event.currentTarget.value)}
          placeholder="its id"
          spellcheck={false}
        />
      </label>
      <button type="submit">Track</button>
    </form>
  );
}

function Forward() {
  const read = useCategories();
  const retrying = useSignal<ForwardCategory | null>(null);
  const all = read.value.value?.categories;
  return (
    <>
      <section>
        <h1>Store-and-forward</h1>
        <Failure why={read.failure.value} again={read.again} />
        {!all && !read.failure.value && <Waiting />}
        {all?.length === 0 && (
          <Empty title="There is no category">
            <p>
              A category under <code>[forward.categories]</code>, or a <code>forward_handler</code> of your program,
              holds work for targets that may be away for days, and hands it over when they are back.
            </p>
          </Empty>
        )}
        {all && all.length > 0 && (
          <>
            <Track />
            <CategoryTable all={all} onRetry={(one) => (retrying.value = one)} />
          </>
        )}
      </section>
      {all && all.length > 0 && <Held />}
      <Sites />
      {retrying.value && (
        <RetryAll
          one={retrying.value}
          onClose={() => {
            retrying.value = null;
            read.again();
          }}
        />
      )}
    </>
  );
}

/// Nothing where nothing is held: most nodes have no category.
function ForwardOnOverview() {
  const all = (useCategories().value.value?.categories ?? []).filter((each) => each.waiting + each.parked > 0);
  if (all.length === 0) return <></>;
  return (
    <section>
      <h2>Store-and-forward</h2>
      <CategoryTable all={all} />
    </section>
  );
}

export const forward: DeskPage = {
  name: "forward",
  title: "Forward",
  needs: "GET /_rf/forward",
  show: () => <Forward />,
  showOne: (id) => <HeldPage id={id} />,
  onOverview: () => <ForwardOnOverview />,
};
