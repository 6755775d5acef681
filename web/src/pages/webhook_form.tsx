// Makes an endpoint, or changes one. What is wrong is said beside the field that it is about.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Refusal, wordsOf } from "../answer";
import { useLoaded } from "../load";
import { Failure, FormDialog } from "../ui";
import { useWebhooks } from "../webhook_ask";
import type { EventType, Subscription } from "../webhook_types";

interface Fault {
  field: string;
  why: string;
}

function Field(props: { name: string; label: string; fault: Fault | null; hint?: string; children: ComponentChildren }) {
  const wrong = props.fault?.field === props.name ? props.fault.why : "";
  return (
    <label class={wrong ? "wrong" : undefined}>
      {props.label}
      {props.children}
      {props.hint && !wrong && <span class="hint">{props.hint}</span>}
      {wrong && (
        <span class="hint bad" role="alert">
          {wrong}
        </span>
      )}
    </label>
  );
}

const texts = ["url", "eventType", "description", "headers", "filter"];
const choices = ["style", "form"];
const numbers = ["maxRetries", "timeoutSeconds"];
/// All that the form can say beside a field of its own.
const shown = [...texts, ...choices, ...numbers, "tenant", "secret"];

function jsonOf(value: unknown): string {
  return value ? JSON.stringify(value) : "";
}

/// What was typed, as the node takes it.
function bodyOf(form: HTMLFormElement, made: boolean): Record<string, unknown> {
  const typed = new FormData(form);
  const text = (name: string) => String(typed.get(name) ?? "").trim();
  const body: Record<string, unknown> = {};
  for (const name of [...texts, ...choices]) body[name] = text(name);
  for (const name of numbers) body[name] = text(name) === "" ? text(name) : Number(text(name));
  if (made) for (const name of ["tenant", "secret"]) if (text(name)) body[name] = text(name);
  return body;
}

/// What the catalogue has is offered; anything else can be typed.
function KnownTypes() {
  const ask = useWebhooks();
  const read = useLoaded(() => ask.get<{ types: EventType[] }>("/types"));
  return (
    <datalist id="event-types">
      {read.value.value?.types.map((each) => (
        <option key={each.name} value={each.name}>
          {each.description}
        </option>
      ))}
    </datalist>
  );
}

export function WebhookForm(props: {
  one?: Subscription; // To be changed; a new one without it.
  onClose: () => void;
  onMade: (one: Subscription & { secret: string }) => void;
}) {
  const ask = useWebhooks();
  const fault = useSignal<Fault | null>(null);
  const busy = useSignal(false);
  const { one } = props;
  const save = async (event: SubmitEvent) => {
    const body = bodyOf(event.target as HTMLFormElement, !one);
    busy.value = true;
    try {
      props.onMade(await ask.post(one ? `/${one.id}/edit` : "", body));
    } catch (thrown) {
      fault.value = { field: thrown instanceof Refusal ? thrown.field : "", why: wordsOf(thrown) };
      busy.value = false;
    }
  };
  const common = { fault: fault.value };
  return (
    <FormDialog
      title={one ? "Change the endpoint" : "New endpoint"}
      verb={one ? "Save" : "Make it"}
      onSubmit={save}
      onClose={props.onClose}
      busy={busy.value}
      wide
    >
      <Field name="url" label="URL" {...common}>
        <input name="url" type="url" defaultValue={one?.url} placeholder="https://shop.example/hook" />
      </Field>
      <div class="fields">
        <Field name="eventType" label="Events" hint="order.paid, order.* or *" {...common}>
          <input name="eventType" defaultValue={one?.eventType ?? "*"} list="event-types" />
          <KnownTypes />
        </Field>
        {!one && ask.operator && (
          <Field name="tenant" label="Tenant" hint="Events of every tenant if empty" {...common}>
            <input name="tenant" />
          </Field>
        )}
        <Field name="description" label="Description" {...common}>
          <input name="description" defaultValue={one?.description} />
        </Field>
      </div>
      <div class="fields">
        <Field name="form" label="Body" {...common}>
          <select name="form" defaultValue={one?.form ?? "envelope"}>
            <option value="envelope">type, time and data</option>
            <option value="raw">the payload alone</option>
            <option value="thin">only the entity's id</option>
          </select>
        </Field>
        <Field name="style" label="Signature" {...common}>
          <select name="style" defaultValue={one?.style ?? "standard"}>
            <option value="standard">Standard Webhooks</option>
            <option value="outbox">X-Outbox-Signature</option>
            <option value="both">both</option>
          </select>
        </Field>
        <Field name="maxRetries" label="Retries" {...common}>
          <input name="maxRetries" inputMode="numeric" defaultValue={String(one?.maxRetries ?? 5)} />
        </Field>
        <Field name="timeoutSeconds" label="Time limit in seconds" {...common}>
          <input name="timeoutSeconds" inputMode="numeric" defaultValue={String(one?.timeoutSeconds ?? 30)} />
        </Field>
      </div>
      <Field name="filter" label="Filter" hint="Which events, by what they say; all if empty" {...common}>
        <input name="filter" defaultValue={jsonOf(one?.filter)} placeholder='{"/data/country": ["DE", "AT"]}' spellcheck={false} />
      </Field>
      <Field name="headers" label="Headers" hint="Sent with each request" {...common}>
        <input name="headers" defaultValue={jsonOf(one?.headers)} placeholder='{"X-Shop": "7"}' spellcheck={false} />
      </Field>
      {!one && (
        <Field name="secret" label="Secret" hint="A new one is made if empty, and shown once" {...common}>
          <input name="secret" autocomplete="off" placeholder="whsec_…" spellcheck={false} />
        </Field>
      )}
      <Failure why={fault.value && !shown.includes(fault.value.field) ? fault.value.why : ""} />
    </FormDialog>
  );
}
