// The parts that pages are made of.

import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { wordsOf } from "./answer";
import { exact, now, relative } from "./format";
import type { Light, Status } from "./types";

export function Time({ at }: { at: string | undefined }) {
  if (!at) return <span class="quiet">–</span>;
  return (
    <time dateTime={at} title={exact(at)}>
      {relative(at, now.value)}
    </time>
  );
}

/// A text of the node, in which times are told as everywhere.
export function Words({ text }: { text: string }) {
  const parts = text.split(/(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)/);
  return <>{parts.map((each, i) => (i % 2 ? <Time key={i} at={each} /> : each))}</>;
}

const shapes: Record<Light, string> = {
  green: "M4.5 8.5l2.5 2.5 4.5-5.5",
  yellow: "M8 4.5v4.5M8 11.5v.2",
  red: "M5.5 5.5l5 5M10.5 5.5l-5 5",
};

/// A light that can be told by its sign too.
export function Lamp({ light, large }: { light: Light; large?: boolean }) {
  return (
    <svg class={`lamp ${light} ${large ? "large" : ""}`} viewBox="0 0 16 16" role="img" aria-label={light}>
      <circle cx="8" cy="8" r="8" />
      <path d={shapes[light]} />
    </svg>
  );
}

// What is as it should be has no colour, so that the rest is seen.
const statusLight: Partial<Record<Status, Light>> = { Dead: "red", Expired: "yellow" };

export function StatusMark({ status }: { status: Status }) {
  return <span class={`mark ${statusLight[status] ?? ""}`}>{status}</span>;
}

const laneLight: Record<string, Light> = {
  paused: "yellow",
  throttled: "yellow",
  probing: "yellow",
  open: "red",
  no_route: "red",
};
const laneWord: Record<string, string> = {
  open: "does not answer",
  no_route: "no route",
  idle: "idle",
};

export function LaneMark({ state }: { state: string }) {
  return <span class={`mark ${laneLight[state] ?? ""}`}>{laneWord[state] ?? state}</span>;
}

/// Says what would be here and how it comes about.
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Failure({ why, again }: { why: string; again?: () => void }) {
  if (!why) return null;
  return (
    <div class="failure" role="alert">
      <span>{why}</span>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Waiting() {
  return (
    <div class="waiting" role="status">
      Reading…
    </div>
  );
}

export function Dialog(props: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
}) {
  const own = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    own.current?.showModal();
  }, []);
  return (
    <dialog
      ref={own}
      class={props.wide ? "wide" : ""}
      aria-label={props.title}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
    >
      <h2>{props.title}</h2>
      {props.children}
    </dialog>
  );
}

/// A dialog that asks before something is done.
export function FormDialog(props: {
  title: string;
  verb: string;
  onSubmit: (event: SubmitEvent) => Promise<unknown> | void;
  onClose: () => void;
  children: ComponentChildren;
  busy?: boolean;
  wide?: boolean;
}) {
  const running = useSignal(false); // A node whose store is blocked answers late; once is enough.
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (running.value) return;
    running.value = true;
    try {
      await props.onSubmit(event);
    } finally {
      running.value = false;
    }
  };
  return (
    <Dialog title={props.title} onClose={props.onClose} wide={props.wide}>
      <form onSubmit={submit} noValidate>
        {props.children}
        <div class="actions">
          <button type="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={props.busy || running.value} aria-busy={running.value}>
            {props.verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/// What was done or went wrong, at the foot of the page for a while.
interface Notice {
  id: number;
  text: string;
  bad: boolean;
}
const notices = signal<Notice[]>([]);
let lastNotice = 0;

export function tell(text: string, bad = false) {
  const id = ++lastNotice;
  notices.value = [...notices.value.slice(-2), { id, text, bad }];
  setTimeout(() => dismiss(id), bad ? 15000 : 6000);
}

function dismiss(id: number) {
  notices.value = notices.value.filter((each) => each.id !== id);
}

/// Runs a change and tells how it went; gives whether it was made.
export async function attempt(change: () => Promise<string>): Promise<boolean> {
  try {
    tell(await change());
    return true;
  } catch (thrown) {
    tell(wordsOf(thrown), true);
    return false;
  }
}

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map((each) => (
        <div key={each.id} class={each.bad ? "notice bad" : "notice"}>
          <span>{each.text}</span>
          <button type="button" class="plain" aria-label="Dismiss" onClick={() => dismiss(each.id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const copy = () =>
    attempt(async () => {
      await navigator.clipboard.writeText(text);
      return "Copied.";
    });
  return (
    <button type="button" class="plain" onClick={copy}>
      {label}
    </button>
  );
}

/// Names and values; those without a value are left out.
export function FactList({ facts }: { facts: Array<[string, ComponentChildren]> }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
    </dl>
  );
}

export function More(props: { next: number | null; onMore: () => void; label?: string }) {
  if (props.next === null) return null;
  return (
    <div class="more">
      <button type="button" onClick={props.onMore}>
        {props.label ?? "Older ones"}
      </button>
    </div>
  );
}
