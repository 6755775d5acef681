import { useSignal } from "@preact/signals";
import { caller, get, post, query } from "../api";
import { count, pretty } from "../format";
import { Listing, NotShown, Table } from "../listing";
import { useLoaded } from "../load";
import { usePagedOf } from "../paged";
import { stateChanges, type StateChange } from "../state_changes";
import { attempt, CopyButton, Empty, FactList, Failure, Time, Words } from "../ui";
import type { WorkflowDetail, WorkflowStep } from "../workflow_types";
import { CancelDialog, SignalDialog, StepDialog, type ShownStep } from "./workflow_dialogs";
import { WorkflowMark } from "./workflows";

function pathOf(address: string): string {
  const [workflow = "", id = ""] = address.split("/"); // Both encoded, as workflowLink made them.
  return `/_rf/workflows/${workflow}/${id}`;
}

const causeWord: Record<string, string> = {
  start: "it was started",
  answered: "the answer came",
  died: "the call was given up",
  unsent: "the call was given up, without effect",
  signalled: "the signal came",
  elapsed: "the time came",
  done: "it was done",
  refused: "it was refused",
  cancel: "it was cancelled",
};

/// Adds to each step what it is about and what it changed, which earlier ones tell.
function tellSteps(steps: WorkflowStep[]): ShownStep[] {
  const commands: string[] = [];
  let state: unknown;
  return steps.map((one) => {
    const before = state;
    if (one.state !== undefined) state = one.state;
    const about = one.command ? commands[one.command - 1] : undefined;
    const dropped = one.dropped.map((number) => commands[number - 1] ?? `command ${number}`);
    commands.push(...one.commands);
    const word = causeWord[one.cause] ?? one.cause;
    return {
      ...one,
      why: about ? `${word}: ${about}` : word,
      forgets: dropped,
      whole: state,
      changes: one.state === undefined ? [] : stateChanges(before, state),
    };
  });
}

function Change({ one }: { one: StateChange }) {
  const text = (value: unknown) => (value === undefined ? "nothing" : JSON.stringify(value));
  return (
    <li>
      {one.path && <strong>{one.path} </strong>}
      {one.before !== undefined && <span class="quiet">{text(one.before)} → </span>}
      {text(one.after)}
    </li>
  );
}

function StepRow({ one, isWrong, onShow }: { one: ShownStep; isWrong: boolean; onShow: () => void }) {
  return (
    <tr data-row tabIndex={-1}>
      <td class="number" data-label="step">{isWrong ? <span class="mark red">{one.step}</span> : one.step}</td>
      <td class="number">
        <Time at={one.at} />
      </td>
      <td class="wide">{one.why}</td>
      <td class="wide">
        <ul aria-label={`What step ${one.step} did`}>
          {one.commands.map((each, i) => (
            <li key={i}>{each}</li>
          ))}
          {one.forgets.map((each, i) => (
            <li key={`-${i}`} class="quiet">
              no more: {each}
            </li>
          ))}
          {one.status !== "running" && <li>{one.status}</li>}
        </ul>
      </td>
      <td class="wide">
        <ul aria-label={`What step ${one.step} changed`}>
          {one.changes.slice(0, 8).map((each) => (
            <Change key={each.path} one={each} />
          ))}
          {one.changes.length > 8 && <li class="quiet">and {count(one.changes.length - 8)} more</li>}
        </ul>
      </td>
      <td class="buttons">
        <button type="button" onClick={onShow} aria-label={`Show step ${one.step}`}>
          Show
        </button>
      </td>
    </tr>
  );
}

/// Steps from the first one on, so that each can be told by those before it.
function Timeline({ path, wrong }: { path: string; wrong?: number }) {
  const shown = useSignal<ShownStep | null>(null);
  const damage = useSignal("");
  const page = usePagedOf<WorkflowStep>(
    async <T,>(at: string) => {
      const told = await get<{ steps: WorkflowStep[]; next?: number; damage?: string }>(at);
      damage.value = told.damage ?? "";
      return { ...told, steps: told.steps.map((each) => ({ ...each, seq: each.step })) } as T;
    },
    (after) => `${path}/history${query({ limit: 100, after })}`,
    "steps",
  );
  const steps = page.rows && tellSteps(page.rows);
  const mayRead = caller.value?.rights.includes("payloads");
  return (
    <section>
      <h2>Steps, the first one first</h2>
      {!mayRead && <p class="quiet">States and payloads need a key with the right to payloads.</p>}
      <Listing
        from={{ ...page, rows: steps }}
        empty={
          <Empty title="No step was taken yet">
            <p>The first one is taken when a program runs that has this workflow's code.</p>
          </Empty>
        }
        heads={[
          { text: "Step", as: "number" },
          { text: "When", as: "number" },
          { text: "Because", as: "wide" },
          { text: "What the code did", as: "wide" },
          { text: "State", as: "wide" },
          { text: "Payload and state", as: "unseen" },
        ]}
        row={(each) => (
          <StepRow key={each.step} one={each} isWrong={each.step === wrong} onShow={() => (shown.value = each)} />
        )}
        more="Later ones"
      />
      {damage.value && <pre class="error">{damage.value}</pre>}
      {shown.value && <StepDialog one={shown.value} onClose={() => (shown.value = null)} />}
    </section>
  );
}

/// Why it is held, with both sides of the step that came out differently.
function Quarantine({ one }: { one: WorkflowDetail }) {
  const { differs } = one;
  return (
    <>
      <p>Nothing of the step was kept, and what comes for it waits. Others go on.</p>
      {differs?.recorded ? (
        <Table
          heads={["Step", { text: "Recorded", as: "wide" }, { text: "What the code does now", as: "wide" }]}
          rows={[differs]}
          row={(each) => (
            <tr key={each.step}>
              <td data-label="step">{each.step}</td>
              <td class="wide" data-label="recorded">{each.recorded}</td>
              <td class="wide bad" data-label="the code now">{each.found}</td>
            </tr>
          )}
        />
      ) : (
        <pre class="error">{one.reason}</pre>
      )}
      <p>Mend the code, start the program again, then resume the workflow here.</p>
    </>
  );
}

function HowItIs({ one }: { one: WorkflowDetail }) {
  if (one.status === "quarantined") return <Quarantine one={one} />;
  const waits = (
    <ul aria-label="What it waits for">
      {one.waitsFor.map((each, i) => (
        <li key={i}>
          <Words text={each} />
        </li>
      ))}
    </ul>
  );
  switch (one.status) {
    case "starting":
      return <p>It was started, and a program with its code has to take the first step.</p>;
    case "paused":
      return (
        <>
          <p>What comes for it waits until it is resumed.{one.waitsFor.length > 0 && " It waits for"}</p>
          {waits}
        </>
      );
    case "running":
      return one.waitsFor.length > 0 ? (
        <>
          <p>It waits for</p>
          {waits}
        </>
      ) : (
        <p>Something came for it, and its next step is to be taken.</p>
      );
    default:
      return (
        <>
          <p>
            It ended <Time at={one.endedAt} />: {one.status}.
          </p>
          {one.reason && <pre class="error">{one.reason}</pre>}
        </>
      );
  }
}

function Payload({ title, value }: { title: string; value: unknown }) {
  if (value === undefined) return null;
  return (
    <section>
      <h2>{title}</h2>
      <pre class="payload" tabIndex={0} aria-label={title}>
        {pretty(JSON.stringify(value))}
      </pre>
    </section>
  );
}

type Asked = "" | "signal" | "cancel";

export function WorkflowPage({ address }: { address: string }) {
  const path = pathOf(address);
  const read = useLoaded(() => get<WorkflowDetail>(path), 3000);
  const asked = useSignal<Asked>("");
  const one = read.value.value;
  if (!one)
    return (
      <NotShown what="workflow" why={read.failure.value}>
        One that ended long ago is deleted. <a href="/desk/workflows">All workflows</a>
      </NotShown>
    );
  const turn = (verb: "pause" | "resume", told: string) =>
    attempt(async () => {
      await post(`${path}/${verb}`);
      read.again();
      return told;
    });
  const close = (changed: boolean) => {
    asked.value = "";
    if (changed) read.again();
  };
  const isHeld = one.status === "paused" || one.status === "quarantined";
  const isOpen = isHeld || one.status === "starting" || one.status === "running";
  return (
    <>
      <div class="title">
        <h1 class="whole">
          {one.workflow} {one.id}
        </h1>
        <WorkflowMark status={one.status} />
      </div>
      <Failure why={read.failure.value} again={read.again} />
      {isOpen && (
        <div class="chosen-bar">
          {isHeld ? (
            <button type="button" class="primary" onClick={() => turn("resume", "It goes on.")}>
              Resume
            </button>
          ) : (
            <button type="button" onClick={() => turn("pause", "What comes for it waits until it is resumed.")}>
              Pause
            </button>
          )}
          <button type="button" onClick={() => (asked.value = "signal")}>
            Signal…
          </button>
          <button type="button" onClick={() => (asked.value = "cancel")}>
            Cancel it…
          </button>
        </div>
      )}
      <div class="columns">
        <section>
          <h2>How it is</h2>
          <HowItIs one={one} />
        </section>
        <section>
          <h2>About it</h2>
          <FactList
            facts={[
              ["Workflow", one.workflow],
              ["Id", <span class="whole">{one.id}</span>],
              ["Version", one.version ? String(one.version) : "the newest there is when it begins"],
              ["Instance", <span class="whole">{one.instance}</span>],
              ["Steps", count(one.steps)],
              ["Started", <Time at={one.startedAt} />],
              ["Ended", one.endedAt && <Time at={one.endedAt} />],
            ]}
          />
          <p>
            <CopyButton text={`posthorn workflow show '${one.workflow}' '${one.id}'`} label="Copy as a command" />
          </p>
        </section>
      </div>
      <Timeline path={path} wrong={one.differs?.step} />
      <div class="columns">
        <Payload title="State" value={one.state} />
        <Payload title="Arguments" value={one.arguments} />
        <Payload title="Result" value={one.result} />
      </div>
      {asked.value === "signal" && <SignalDialog path={path} one={one} onClose={close} />}
      {asked.value === "cancel" && <CancelDialog path={path} one={one} onClose={close} />}
    </>
  );
}
