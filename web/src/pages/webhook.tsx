import { useSignal } from "@preact/signals";
import { filters, go } from "../address";
import { query } from "../answer";
import { count, shortId } from "../format";
import { Listing, NotShown, Table } from "../listing";
import { useLoaded } from "../load";
import { usePagedOf } from "../paged";
import type { Light } from "../types";
import { attempt, CopyButton, Empty, FactList, Failure, Time } from "../ui";
import { useWebhooks, type WebhookAsk } from "../webhook_ask";
import type { DeliveryAttempt, EndpointDetail } from "../webhook_types";
import { Choice } from "./fields";
import { AttemptDialog, RecoverDialog, RemoveDialog, RotateDialog, SecretDialog, TestDialog } from "./webhook_dialogs";
import { WebhookForm } from "./webhook_form";
import { HealthMark } from "./webhooks";

const stateWord: Record<DeliveryAttempt["state"], string> = {
  pending: "under way",
  success: "taken",
  failed: "failed",
  dead: "given up",
};
const stateLight: Partial<Record<DeliveryAttempt["state"], Light>> = { failed: "yellow", dead: "red" };

/// How it is, in words.
function Words({ one }: { one: EndpointDetail }) {
  const { mayChange } = useWebhooks();
  if (one.state === "disabled")
    return (
      <p>
        Events pass it by.
        {mayChange && " Enable it to tell it of new ones; what it missed can be recovered then."}
      </p>
    );
  if (one.trouble) return <p>Nothing can be sent to it: {one.trouble}</p>;
  if (one.state === "paused") return <p>Its events wait until it is resumed.</p>;
  if (one.health === "quiet")
    return <p>Nothing was sent to it yet.{mayChange && " Send a test to see whether it answers."}</p>;
  if (one.health === "failing")
    return (
      <p>
        The last attempt failed{one.lastHttpStatus === undefined ? ": there was no answer" : ` with HTTP ${one.lastHttpStatus}`},{" "}
        <Time at={one.lastAttemptAt} />. Deliveries are tried again until their retries or their time are used up.
      </p>
    );
  return (
    <p>
      It took the last delivery <Time at={one.lastAttemptAt} />.
    </p>
  );
}

type Asked = "" | "edit" | "test" | "rotate" | "recover" | "remove" | "history";

function Actions(props: { one: EndpointDetail; onAsk: (what: Asked) => void; again: () => void }) {
  const ask = useWebhooks();
  const { one } = props;
  const turn = (verb: "pause" | "resume" | "disable" | "enable", told: string) =>
    attempt(async () => {
      await ask.post(`/${one.id}/${verb}`);
      props.again();
      return told;
    });
  const button = (text: string, act: () => void, primary = false) => (
    <button type="button" class={primary ? "primary" : undefined} onClick={act}>
      {text}
    </button>
  );
  return (
    <div class="chosen-bar">
      {button("Send a test", () => props.onAsk("test"))}
      {one.state === "active" && button("Pause", () => turn("pause", "Its events wait until it is resumed."))}
      {one.state === "paused" && button("Resume", () => turn("resume", "It goes on."), true)}
      {one.state === "disabled" && button("Enable", () => turn("enable", "It is told of events again."), true)}
      {button(one.dead > 0 ? `Recover ${count(one.dead)}…` : "Recover…", () => props.onAsk("recover"))}
      {button("Edit…", () => props.onAsk("edit"))}
      {button("Rotate the secret…", () => props.onAsk("rotate"))}
      {one.state !== "disabled" && button("Disable", () => turn("disable", "Events pass it by."))}
      {button("Delete…", () => props.onAsk("remove"))}
    </div>
  );
}

function AttemptRow({ one, ask, onShow }: { one: DeliveryAttempt; ask: WebhookAsk; onShow: () => void }) {
  return (
    <tr data-row tabIndex={-1}>
      <td class="number">
        <Time at={one.at} />
      </td>
      <td class="clip">{one.eventType ?? <span class="quiet">gone</span>}</td>
      <td class="id" title={one.messageId}>
        {ask.operator ? (
          <a href={ask.operator.messageLink(one.messageId)}>{shortId(one.messageId)}</a>
        ) : (
          shortId(one.messageId)
        )}
      </td>
      <td class="number" data-label="attempt">{one.attempt}</td>
      <td>
        <span class={`mark ${stateLight[one.state] ?? ""}`}>{stateWord[one.state]}</span>
      </td>
      <td class="number" data-label="HTTP">{one.httpStatus ?? "–"}</td>
      <td class="number" data-label="took">{count(one.tookMs)} ms</td>
      <td class="wide clip" title={one.error}>
        {one.error ?? ""}
      </td>
      <td class="buttons">
        <button type="button" onClick={onShow} aria-label={`Show attempt ${one.attempt} of ${shortId(one.messageId)}`}>
          Show
        </button>
      </td>
    </tr>
  );
}

function Deliveries({ id }: { id: string }) {
  const ask = useWebhooks();
  const shown = useSignal<DeliveryAttempt | null>(null);
  const page = usePagedOf<DeliveryAttempt>(
    ask.get,
    (before) => `/${id}/deliveries${query({ failed: filters.value.get("failed"), limit: 50, before })}`,
    "deliveries",
  );
  const narrowed = filters.value.has("failed");
  return (
    <section>
      <h2>Deliveries, the newest first</h2>
      <div class="filters">
        <Choice name="failed" label="Attempts" options={[["", "all"], ["true", "those that failed"]]} />
      </div>
      <Listing
        from={page}
        empty={
          <Empty title={narrowed ? "None failed" : "Nothing was sent to it yet"}>
            <p>Each attempt is listed here with its request and its answer, for as long as attempts are kept.</p>
          </Empty>
        }
        heads={[
          { text: "When", as: "number" },
          "Type",
          "Event",
          { text: "Attempt", as: "number" },
          "State",
          { text: "HTTP", as: "number" },
          { text: "Took", as: "number" },
          { text: "Error", as: "wide" },
          { text: "Request and answer", as: "unseen" },
        ]}
        row={(each) => <AttemptRow key={each.seq} one={each} ask={ask} onShow={() => (shown.value = each)} />}
      />
      {shown.value && <AttemptDialog id={id} one={shown.value} onClose={() => (shown.value = null)} />}
    </section>
  );
}

function Types({ one }: { one: EndpointDetail }) {
  if (one.types.length === 0) return null;
  return (
    <section>
      <h2>Types of events it was sent lately</h2>
      <Table
        heads={["Type", { text: "Attempts", as: "number" }, { text: "Last", as: "number" }]}
        rows={one.types}
        row={(each) => (
          <tr key={each.eventType} data-row tabIndex={-1}>
            <td class="clip">{each.eventType}</td>
            <td class="number" data-label="attempts">{count(each.attempts)}</td>
            <td class="number" data-label="last">
              <Time at={each.lastAt} />
            </td>
          </tr>
        )}
      />
    </section>
  );
}

function Facts({ one }: { one: EndpointDetail }) {
  const ask = useWebhooks();
  return (
    <FactList
      facts={[
        ["Id", <span class="whole">{one.id}</span>],
        ["Events", one.eventType],
        ["Tenant", ask.operator && (one.tenant ?? "every tenant's events")],
        ["Description", one.description],
        ["Filter", one.filter && <code class="whole">{JSON.stringify(one.filter)}</code>],
        ["Headers", one.headers && <code class="whole">{JSON.stringify(one.headers)}</code>],
        ["Body", one.form],
        ["Signature", one.style],
        ["Retries", String(one.maxRetries)],
        ["Time limit", `${one.timeoutSeconds} s`],
        ["Secret", "can be replaced, not read"],
        ["The one before signs until", one.previousSecretUntil && <Time at={one.previousSecretUntil} />],
        ["Made", <Time at={one.createdAt} />],
        ["Changed", one.updatedAt && <Time at={one.updatedAt} />],
      ]}
    />
  );
}

export function WebhookPage({ id }: { id: string }) {
  const ask = useWebhooks();
  const read = useLoaded(() => ask.get<EndpointDetail>(`/${encodeURIComponent(id)}/health`), 3000);
  const asked = useSignal<Asked>("");
  const secret = useSignal("");
  const one = read.value.value;
  if (!one)
    return (
      <NotShown what="endpoint" why={read.failure.value}>
        <a href={ask.link()}>All endpoints</a>
      </NotShown>
    );
  const close = (changed = false) => {
    asked.value = "";
    if (changed) read.again();
  };
  return (
    <>
      <div class="title">
        <h1 class="whole">{one.url}</h1>
        <HealthMark health={one.health} />
      </div>
      <Failure why={read.failure.value} again={read.again} />
      {ask.mayChange && <Actions one={one} onAsk={(what) => (asked.value = what)} again={read.again} />}
      <div class="columns">
        <section>
          <h2>How it is</h2>
          <Words one={one} />
          {one.reason && <pre class="error">{one.reason}</pre>}
          {one.lastAttemptAt && (
            <p class="quiet">
              Of the last {count(one.delivered + one.failed)} attempts it took {count(one.delivered)}.
            </p>
          )}
          {one.dead > 0 && (
            <p>
              {ask.operator ? (
                <a class="bad" href={ask.operator.deadLink(one.id)}>
                  {count(one.dead)} given up
                </a>
              ) : (
                `${count(one.dead)} given up`
              )}
            </p>
          )}
        </section>
        <section>
          <h2>About it</h2>
          <Facts one={one} />
          {ask.operator && (
            <p>
              <button type="button" onClick={() => (asked.value = "history")}>
                History
              </button>{" "}
              <CopyButton text={`posthorn webhooks show ${one.id}`} label="Copy as a command" />
            </p>
          )}
        </section>
      </div>
      <Deliveries id={one.id} />
      <Types one={one} />
      {asked.value === "history" && ask.operator?.history(one, () => close())}
      {asked.value === "test" && <TestDialog id={one.id} onClose={() => close(true)} />}
      {asked.value === "edit" && <WebhookForm one={one} onClose={() => close()} onMade={() => close(true)} />}
      {asked.value === "recover" && <RecoverDialog one={one} onClose={close} />}
      {asked.value === "remove" && <RemoveDialog one={one} onClose={() => close()} onDone={() => go(ask.link())} />}
      {asked.value === "rotate" && (
        <RotateDialog
          one={one}
          onClose={() => close()}
          onDone={(made) => {
            close(true);
            secret.value = made;
          }}
        />
      )}
      {secret.value && <SecretDialog secret={secret.value} onClose={() => (secret.value = "")} />}
    </>
  );
}
