import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { wordsOf } from "../api";
import {
  changeAll,
  changeSome,
  countAll,
  countSome,
  discardReason,
  keyName,
  undoDiscard,
  type Change,
  type Counted,
  type DeadFilter,
  type Progress,
  type Seen,
  type Verb,
} from "../change";
import { count, plural, upTo } from "../format";
import { stats } from "../node";
import type { DeadLetter } from "../types";
import { Dialog, Failure } from "../ui";

export interface Plan {
  verb: Verb;
  some?: DeadLetter[]; // These, or all that fit the filter.
  wanted: DeadFilter;
}

function words(progress: Progress): string {
  const parts = [`${plural(progress.done, "message")} changed`];
  if (progress.expired > 0) parts.push(`${count(progress.expired)} had expired and were left`);
  if (progress.refused.length > 0) parts.push(`${count(progress.refused.length)} refused: ${progress.refused[0]}`);
  return `${parts.join("; ")}.`;
}

function filterWords(wanted: DeadFilter): string {
  return Object.entries(wanted)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}

const wordsFor: Record<Verb, { title: string; button: string }> = {
  requeue: { title: "Requeue dead letters", button: "Requeue" },
  resolve: { title: "Resolve dead letters", button: "Resolve" },
  discard: { title: "Discard dead letters", button: "Discard" },
  reopen: { title: "Take back that these were resolved", button: "Reopen" },
};

function What({ verb, isExpired }: { verb: Verb; isExpired: boolean }) {
  switch (verb) {
    case "requeue":
      return (
        <p>
          They are sent again from their first attempt on, oldest first.{" "}
          {isExpired
            ? "Each gets a new id, since the receiver may have forgotten the old one: it cannot tell a repeat from a new message."
            : "A receiver that has handled one already answers as before and does nothing twice."}{" "}
          This cannot be undone: they may be on their way at once.
        </p>
      );
    case "resolve":
      return <p>They are not sent. They stay here as resolved, with your reason, until their retention ends, and until then can be reopened.</p>;
    case "discard":
      return (
        <p>
          They are not sent, and leave this list. They are kept as resolved until their retention ends, and until
          then this can be undone.
        </p>
      );
    case "reopen":
      return <p>They are dead letters again, as they were. What followed them meanwhile is not called back. To resolve them again takes this back.</p>;
  }
}

/// Where they go, and what follows of their order keys.
function Consequences({ verb, seen }: { verb: Verb; seen: Counted }) {
  const places = [...seen.destinations].sort(([, a], [, b]) => b - a);
  const keys = (stats.value?.blocked?.keys ?? []).filter((each) => seen.orderKeys.has(keyName(each)));
  const parked = keys.reduce((sum, each) => sum + each.waiting, 0);
  const moreParked = seen.more || keys.some((each) => each.waitingAtLeast);
  return (
    <>
      {places.length > 0 && (
        <ul class="destinations-of" aria-label="By destination">
          {places.slice(0, 10).map(([name, number]) => (
            <li key={name}>
              {name} <span class="quiet">{upTo(number, seen.more)}</span>
            </li>
          ))}
          {places.length > 10 && <li class="quiet">and {seen.more ? "at least " : ""}{count(places.length - 10)} more</li>}
        </ul>
      )}
      {verb !== "reopen" && parked > 0 && (
        <p>
          {upTo(parked, moreParked)} {parked === 1 && !moreParked ? "message" : "messages"} of{" "}
          {plural(keys.length, "order key")} ({keys.slice(0, 3).map((each) => `'${each.orderKey}'`).join(", ")}
          {keys.length > 3 && ", …"}) {parked === 1 && !moreParked ? "is parked behind them and follows" : "are parked behind them and follow"}
          {verb === "requeue" ? " when they are sent." : " at once."}
        </p>
      )}
    </>
  );
}

/// How long what has expired may take this time, by what the list of choices says.
const times: Array<[ms: string, text: string]> = [
  ["", "as long as it had at first"],
  ["3600000", "an hour from now on"],
  ["86400000", "a day from now on"],
  ["604800000", "7 days from now on"],
];

function Times({ of }: { of: Signal<string> }) {
  return (
    <label>
      It may take
      <select value={of.value} onChange={(event) => (of.value = event.currentTarget.value)}>
        {times.map(([ms, text]) => (
          <option key={ms} value={ms}>
            {text}
          </option>
        ))}
      </select>
      <span class="hint">Where it goes must be back by then, or it expires again.</span>
    </label>
  );
}

/// Says what will happen and to how many, then does it and shows how far it is.
export function ChangeDialog({ plan, onClose }: { plan: Plan; onClose: (changed: boolean) => void }) {
  const { verb, some, wanted } = plan;
  const isExpired = wanted["status"] === "Expired";
  const counted = useSignal<Counted | null>(some ? countSome(some) : null);
  const failure = useSignal("");
  const reason = useSignal("");
  const time = useSignal("");
  const progress = useSignal<Progress | null>(null);
  const running = useSignal(false);
  const ended = useSignal(false);
  const undone = useSignal(false);
  const stopped = useRef(false);
  const discarded = useRef(""); // The reason that tells those of this dialog.
  const resolved = useRef<Seen[]>([]); // Those that were selected.

  useEffect(() => {
    if (!some)
      countAll(wanted).then(
        (seen) => (counted.value = seen),
        (thrown: unknown) => (failure.value = wordsOf(thrown)),
      );
    return () => {
      stopped.current = true;
    };
  }, []);

  const report = (seen: Progress) => {
    progress.value = seen;
    return !stopped.current;
  };
  const work = async (what: () => Promise<void>) => {
    running.value = true;
    failure.value = "";
    stopped.current = false;
    try {
      await what();
      ended.value = true;
    } catch (thrown) {
      failure.value = wordsOf(thrown);
    }
    running.value = false;
  };
  const run = (event: SubmitEvent) => {
    event.preventDefault();
    const of = counted.value;
    if (!of || running.value) return;
    const why = reason.value.trim();
    if (verb === "discard") discarded.current ||= discardReason(why);
    const change: Change = {
      verb,
      reason: verb === "discard" ? discarded.current : why,
      newId: verb === "requeue" && isExpired,
      expiresInMs: time.value ? Number(time.value) : undefined,
    };
    void work(async () => {
      if (!some) return changeAll(wanted, of, change, report);
      const changed = await changeSome(some, change, report);
      if (verb === "resolve") resolved.current = changed;
    });
  };
  const undo = () => {
    undone.value = true;
    void work(async () => {
      if (verb === "discard") await undoDiscard(discarded.current, report);
      else await changeSome(resolved.current, { verb: "reopen" }, report);
    });
  };

  const number = counted.value;
  const close = () => onClose(progress.value !== null);
  const { title, button } = wordsFor[verb];
  const isUndoable = verb === "discard" || (verb === "resolve" && some !== undefined);
  const canUndo = isUndoable && progress.value !== null && progress.value.done > 0 && !undone.value;
  const isOne = number?.number === 1 && !number.more;
  return (
    <Dialog title={title} onClose={close}>
      <form onSubmit={run}>
        <p class="preview">
          <strong>{number ? upTo(number.number, number.more) : "…"}</strong> {isOne ? "message" : "messages"}
          {some ? " that you selected" : filterWords(wanted) ? ` with ${filterWords(wanted)}` : ", all of them"}
        </p>
        {number && <Consequences verb={verb} seen={number} />}
        <What verb={verb} isExpired={isExpired} />
        {verb === "requeue" && isExpired && <Times of={time} />}
        {(verb === "resolve" || verb === "discard") && (
          <label>
            {verb === "resolve" ? "Reason" : "Why, if others should know"}
            <input
              value={reason.value}
              onInput={(event) => (reason.value = event.currentTarget.value)}
              placeholder={verb === "resolve" ? "paid by hand" : "test data"}
              maxLength={1000}
              required={verb === "resolve"}
              autofocus
            />
          </label>
        )}
        <Failure why={failure.value} />
        {progress.value && (
          <div role="status">
            <progress max={Math.max(1, progress.value.of, progress.value.done)} value={progress.value.done} />
            <p>{words(progress.value)}</p>
          </div>
        )}
        <div class="actions">
          {running.value ? (
            <button type="button" onClick={() => (stopped.current = true)}>
              Stop
            </button>
          ) : (
            <button type="button" class={ended.value ? "primary" : ""} onClick={close}>
              {progress.value ? "Close" : "Cancel"}
            </button>
          )}
          {canUndo && !running.value && (
            <button type="button" onClick={undo}>
              Undo
            </button>
          )}
          {!ended.value && !undone.value && (
            <button type="submit" class="primary" disabled={!number || (number.number === 0 && !number.more) || running.value}>
              {number && (number.number > 0 || !number.more) ? `${button} ${upTo(number.number, number.more)}` : button}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}
