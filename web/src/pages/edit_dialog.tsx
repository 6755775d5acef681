import { useSignal } from "@preact/signals";
import { post, wordsOf } from "../api";
import { look } from "../node";
import type { Detail } from "../types";
import { Dialog, Failure, tell } from "../ui";

/// The text is the payload, byte for byte; of another one the node shows what can be read.
function isWhole(one: Detail): boolean {
  return one.payload !== undefined && new TextEncoder().encode(one.payload).length === one.payloadBytes;
}

/// Changes a dead letter and sends it. The payload can be changed if it was read, which is a right
/// of its own.
export function EditDialog({ one, onClose }: { one: Detail; onClose: (changed: boolean) => void }) {
  const failure = useSignal("");
  const busy = useSignal(false);
  const whole = isWhole(one);
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const changed: Record<string, unknown> = {};
    const take = (name: "payload" | "headers" | "endpoint" | "destination" | "contentType") => {
      const value = fields.get(name);
      // A form sends line breaks as CR LF whatever they were.
      const text = typeof value === "string" ? value.replaceAll("\r\n", "\n") : null;
      if (text !== null && text !== (one[name] ?? "")) changed[name] = text;
    };
    for (const name of ["endpoint", "destination", "contentType"] as const) take(name);
    if (whole) for (const name of ["payload", "headers"] as const) take(name);
    if (Object.keys(changed).length === 0) {
      failure.value = "Nothing is changed yet. To send it as it is, requeue it.";
      return;
    }
    busy.value = true;
    try {
      await post(
        `/_rf/dead/${one.messageId}/edit`,
        { ...changed, requeue: true, ...(one.status === "Expired" ? { newId: true } : {}) },
        one.state,
      );
      tell("Changed and requeued.");
      await look();
      onClose(true);
    } catch (thrown) {
      failure.value = wordsOf(thrown);
      busy.value = false;
    }
  };
  return (
    <Dialog title="Edit and requeue" onClose={() => onClose(false)} wide>
      <form onSubmit={save}>
        <div class="fields">
          <label>
            Destination
            <input name="destination" defaultValue={one.destination} required />
          </label>
          <label>
            Endpoint
            <input name="endpoint" defaultValue={one.endpoint} required />
          </label>
          <label>
            Content type
            <input name="contentType" defaultValue={one.contentType} />
          </label>
        </div>
        {whole ? (
          <>
            <label>
              Payload
              <textarea name="payload" rows={12} spellcheck={false} defaultValue={one.payload} />
            </label>
            <label>
              Headers
              <textarea name="headers" rows={3} spellcheck={false} defaultValue={one.headers ?? ""} />
            </label>
          </>
        ) : (
          <p class="hint">
            {one.payload === undefined
              ? "To change the payload, show it first; that needs a key with the right to payloads."
              : "The payload is not text, or not all of it is shown: it cannot be changed here."}
          </p>
        )}
        <p class="hint">This cannot be undone: what it said is written over, and it is sent at once.</p>
        <Failure why={failure.value} />
        <div class="actions">
          <button type="button" onClick={() => onClose(false)}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy.value}>
            Save and requeue
          </button>
        </div>
      </form>
    </Dialog>
  );
}
