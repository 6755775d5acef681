import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { wordsOf } from "../api";
import { changeAll, changeSome, countAll, type Change, type Counted, type DeadFilter, type Progress, type Verb } from "../change";
import { count, plural } from "../format";
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

/// Says what will happen and to how many, then does it and shows how far it is.
export function ChangeDialog({ plan, onClose }: { plan: Plan; onClose: (changed: boolean) => void }) {
  const { verb, some, wanted } = plan;
  const isExpired = wanted["status"] === "Expired";
  const counted = useSignal<Counted | null>(some ? { number: some.length, more: false } : null);
  const failure = useSignal("");
  const reason = useSignal("");
  const progress = useSignal<Progress | null>(null);
  const running = useSignal(false);
  const ended = useSignal(false);
  const stopped = useRef(false);

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

  const run = async (event: SubmitEvent) => {
    event.preventDefault();
    const of = counted.value;
    if (!of || running.value) return;
    running.value = true;
    failure.value = "";
    const change: Change = { verb, reason: reason.value.trim(), newId: verb === "requeue" && isExpired };
    const report = (seen: Progress) => {
      progress.value = seen;
      return !stopped.current;
    };
    try {
      await (some ? changeSome(some, change, report) : changeAll(wanted, of, change, report));
      ended.value = true;
    } catch (thrown) {
      failure.value = wordsOf(thrown);
    }
    running.value = false;
  };

  const number = counted.value;
  const close = () => onClose(progress.value !== null);
  const verbWord = verb === "requeue" ? "Requeue" : "Resolve";
  return (
    <Dialog title={verb === "requeue" ? "Requeue dead letters" : "Resolve dead letters"} onClose={close}>
      <form onSubmit={run}>
        <p class="preview">
          <strong>{number ? count(number.number, number.more) : "…"}</strong>{" "}
          {number?.number === 1 ? "message" : "messages"}
          {some ? " that you selected" : filterWords(wanted) ? ` with ${filterWords(wanted)}` : ", all of them"}
        </p>
        {verb === "requeue" ? (
          <p>
            They are sent again from their first attempt on, oldest first.{" "}
            {isExpired
              ? "Each gets a new id, since the receiver may have forgotten the old one: it cannot tell a repeat from a new message."
              : "A receiver that has handled one already answers as before and does nothing twice."}
          </p>
        ) : (
          <>
            <p>They are not sent. They stay here as resolved, with your reason, until their retention ends.</p>
            <label>
              Reason
              <input
                value={reason.value}
                onInput={(event) => (reason.value = event.currentTarget.value)}
                placeholder="paid by hand"
                maxLength={1000}
                required
                autofocus
              />
            </label>
          </>
        )}
        <Failure why={failure.value} />
        {progress.value && (
          <div role="status">
            <progress max={Math.max(1, progress.value.of)} value={progress.value.done} />
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
          {!ended.value && (
            <button type="submit" class="primary" disabled={!number || number.number === 0 || running.value}>
              {number ? `${verbWord} ${count(number.number, number.more)}` : verbWord}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}
