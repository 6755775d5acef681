// What is asked before something is told to a workflow, and what one of its steps held.

import { useSignal } from "@preact/signals";
import { post, wordsOf } from "../api";
import { pretty } from "../format";
import type { StateChange } from "../state_changes";
import { attempt, Dialog, Failure, FormDialog, tell, Time } from "../ui";
import type { WorkflowDetail, WorkflowStep } from "../workflow_types";

/// A step with what can be told of it by those before.
export interface ShownStep extends WorkflowStep {
  why: string;
  forgets: string[]; // Commands that are waited for no more.
  whole: unknown; // The state after it.
  changes: StateChange[];
}

interface Asks {
  path: string;
  one: WorkflowDetail;
  onClose: (changed: boolean) => void;
}

/// The signal that it waits for, if it waits for one.
function awaited(one: WorkflowDetail): string {
  return one.waitsFor.map((each) => /^(\S+) where /.exec(each)?.[1]).find((each) => each) ?? "";
}

export function SignalDialog({ path, one, onClose }: Asks) {
  const failure = useSignal("");
  const send = async (event: SubmitEvent) => {
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    try {
      await post(`${path}/signal`, { signal: fields.get("signal"), payload: fields.get("payload") });
      tell("It was told.");
      onClose(true);
    } catch (thrown) {
      failure.value = wordsOf(thrown);
    }
  };
  return (
    <FormDialog title="Tell it a signal" verb="Tell it" onSubmit={send} onClose={() => onClose(false)}>
      <p>This workflow alone gets it. It is kept until it is waited for.</p>
      <Failure why={failure.value} />
      <label>
        Signal
        <input name="signal" defaultValue={awaited(one)} required />
      </label>
      <label>
        Payload, as JSON
        <textarea name="payload" rows={6} defaultValue="{}" />
      </label>
    </FormDialog>
  );
}

export function CancelDialog({ path, one, onClose }: Asks) {
  const reason = useSignal("");
  const cancel = async () => {
    const done = await attempt(async () => {
      await post(`${path}/cancel`, reason.value.trim() ? { reason: reason.value.trim() } : undefined);
      return "It is being cancelled.";
    });
    if (done) onClose(true);
  };
  return (
    <FormDialog
      title={`Cancel ${one.workflow} ${one.id}`}
      verb="Cancel the workflow"
      onSubmit={cancel}
      onClose={() => onClose(false)}
    >
      <p>Its code is told, and what was to be undone is undone. This cannot be taken back.</p>
      {(one.status === "paused" || one.status === "quarantined") && <p>It is told when it is resumed.</p>}
      <label>
        Reason
        <input value={reason.value} onInput={(event) => (reason.value = event.currentTarget.value)} />
      </label>
    </FormDialog>
  );
}

function Part({ title, value }: { title: string; value: unknown }) {
  if (value === undefined || value === "") return null;
  return (
    <>
      <h3>{title}</h3>
      <pre class="payload" tabIndex={0} aria-label={title}>
        {pretty(JSON.stringify(value))}
      </pre>
    </>
  );
}

export function StepDialog({ one, onClose }: { one: ShownStep; onClose: () => void }) {
  return (
    <Dialog title={`Step ${one.step}`} onClose={onClose} wide>
      <p>
        <Time at={one.at} />: {one.why}
      </p>
      <Part title="What came" value={one.payload} />
      <Part title="State after it" value={one.whole} />
      <Part title="Result" value={one.result} />
      {one.payload === undefined && <p class="quiet">Payloads need a key with the right to them.</p>}
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
