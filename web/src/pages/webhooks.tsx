import { useSignal } from "@preact/signals";
import { filters } from "../address";
import { query } from "../answer";
import { count, plural } from "../format";
import { Table } from "../listing";
import { useLoaded } from "../load";
import type { Light } from "../types";
import { Empty, Failure, Time, Waiting } from "../ui";
import { useWebhooks } from "../webhook_ask";
import type { Endpoint, EndpointHealth, EndpointPage, EventType, Subscription } from "../webhook_types";
import { Choice, Text } from "./fields";
import { SecretDialog } from "./webhook_dialogs";
import { WebhookForm } from "./webhook_form";

const healthLight: Partial<Record<EndpointHealth, Light>> = { failing: "red", disabled: "yellow", paused: "yellow" };
const names = ["state", "tenant", "text"];
const limit = 100;

export function HealthMark({ health }: { health: EndpointHealth }) {
  return <span class={`mark ${healthLight[health] ?? ""}`}>{health}</span>;
}

function Row({ one }: { one: Endpoint }) {
  const ask = useWebhooks();
  return (
    <tr data-row tabIndex={-1}>
      <td>
        <HealthMark health={one.health} />
      </td>
      <td class="wide clip" title={one.url}>
        <a href={ask.link(one.id)}>{one.url}</a>
        {one.description && <span class="quiet aside clip">{one.description}</span>}
      </td>
      <td class="clip">{one.eventType}</td>
      {ask.operator && <td class="clip">{one.tenant ?? <span class="quiet">all tenants</span>}</td>}
      <td class="number" data-label="taken" title="Of the last attempts, at most 20">
        {one.lastAttemptAt ? `${one.delivered} of ${one.delivered + one.failed}` : "–"}
      </td>
      <td class="number" data-label="given up">
        {one.dead > 0 ? <span class="bad">{count(one.dead)}</span> : "–"}
      </td>
      <td class="number" data-label="last">
        {one.lastHttpStatus !== undefined && <span class="quiet">HTTP {one.lastHttpStatus} </span>}
        <Time at={one.lastAttemptAt} />
      </td>
    </tr>
  );
}

/// What there is to be told of. A node without a catalogue shows nothing.
function EventTypes() {
  const ask = useWebhooks();
  const read = useLoaded(() => ask.get<{ types: EventType[]; strict: boolean }>("/types"));
  const seen = read.value.value;
  if (!seen || seen.types.length === 0) return null;
  return (
    <>
      <h2>Types of events</h2>
      {seen.strict && <p class="quiet">Events of other types are given up.</p>}
      <Table
        heads={["Type", { text: "Description", as: "wide" }, "Example"]}
        rows={seen.types}
        row={(each) => (
          <tr key={each.name}>
            <td>{each.name}</td>
            <td class="wide clip">{each.description ?? <span class="quiet">none</span>}</td>
            <td class="clip">{each.example === undefined ? "–" : JSON.stringify(each.example)}</td>
          </tr>
        )}
      />
    </>
  );
}

function NoEndpoints({ narrowed }: { narrowed: boolean }) {
  const ask = useWebhooks();
  if (narrowed)
    return (
      <Empty title="No endpoint fits these filters">
        <p>
          <a href={ask.link()}>Show all</a>
        </p>
      </Empty>
    );
  return (
    <Empty title="No endpoint is subscribed yet">
      <p>
        An endpoint is a URL that is told of events of a type.
        {ask.operator && (
          <>
            {" "}
            Events are published in the transaction that causes them: <code>tx.publish("order.paid", payload)</code>,
            or a row of <code>outbox_messages</code> for <code>webhooks</code>.
          </>
        )}
      </p>
    </Empty>
  );
}

function stateOptions(states: EndpointPage["states"]): Array<[string, string]> {
  const all: EndpointHealth[] = ["failing", "disabled", "paused", "delivering", "quiet"];
  return [["", "any"], ...all.map((each): [string, string] => [each, `${each} (${count(states[each] ?? 0)})`])];
}

export function Webhooks() {
  const ask = useWebhooks();
  const adding = useSignal(false);
  const made = useSignal<(Subscription & { secret: string }) | null>(null);
  const read = useLoaded(
    () =>
      ask.get<EndpointPage>(
        `/endpoints${query({
          state: filters.value.get("state"),
          tenant: filters.value.get("tenant"),
          text: filters.value.get("text"),
          limit,
        })}`,
      ),
    5000,
  );
  const page = read.value.value;
  const narrowed = names.some((name) => filters.value.has(name));
  return (
    <section>
      <div class="title">
        <h1>Webhooks</h1>
        {ask.mayChange && (
          <button type="button" onClick={() => (adding.value = true)}>
            New endpoint…
          </button>
        )}
      </div>
      <div class="filters">
        <Choice name="state" label="State" options={stateOptions(page?.states ?? {})} />
        {ask.operator && <Text name="tenant" label="Tenant" />}
        <Text name="text" label="URL, events or text" />
      </div>
      <Failure why={read.failure.value} again={read.again} />
      {!page && !read.failure.value && <Waiting />}
      {page?.endpoints.length === 0 && <NoEndpoints narrowed={narrowed} />}
      {page && page.endpoints.length > 0 && (
        <Table
          list
          heads={[
            "State",
            { text: "Endpoint", as: "wide" },
            "Events",
            ...(ask.operator ? ["Tenant"] : []),
            { text: "Taken lately", as: "number", title: "Of the last attempts, at most 20" },
            { text: "Given up", as: "number" },
            { text: "Last attempt", as: "number" },
          ]}
          rows={page.endpoints}
          row={(each) => <Row key={each.id} one={each} />}
        />
      )}
      {page && page.fitting > page.endpoints.length && (
        <p class="quiet">
          The first {count(page.endpoints.length)} of {plural(page.fitting, "endpoint")}, those that need you most;
          narrow the list to see others.
        </p>
      )}
      {page?.deadAtLeast && (
        <p class="quiet">There are so many dead letters that only the newest are counted here.</p>
      )}
      <EventTypes />
      {adding.value && (
        <WebhookForm
          onClose={() => (adding.value = false)}
          onMade={(one) => {
            adding.value = false;
            made.value = one;
            read.again();
          }}
        />
      )}
      {made.value && (
        <SecretDialog secret={made.value.secret} open={made.value.id} onClose={() => (made.value = null)} />
      )}
    </section>
  );
}
