import { get, query } from "../api";
import { count } from "../format";
import { Listing, Table } from "../listing";
import { useLoaded } from "../load";
import type { DeskPage } from "../page";
import { usePaged } from "../node_paged";
import { filters } from "../route";
import type { Light } from "../types";
import { Empty, Time } from "../ui";
import type { Workflow, WorkflowCount, WorkflowStatus } from "../workflow_types";
import { Choice, Text } from "./filters";
import { WorkflowPage } from "./workflow";

const statusLight: Partial<Record<WorkflowStatus, Light>> = { quarantined: "red", failed: "yellow", paused: "yellow" };
const open: WorkflowStatus[] = ["starting", "running", "paused", "quarantined"];
const ended: WorkflowStatus[] = ["completed", "failed", "cancelled"];
const names = ["status", "workflow", "id"];

export function WorkflowMark({ status }: { status: WorkflowStatus }) {
  return <span class={`mark ${statusLight[status] ?? ""}`}>{status}</span>;
}

/// Names and ids may hold anything, a slash too.
export function workflowLink(workflow: string, id: string): string {
  return `/desk/workflows/${encodeURIComponent([workflow, id].map(encodeURIComponent).join("/"))}`;
}

function useCounts() {
  return useLoaded(() => get<{ open: WorkflowCount[] }>("/_rf/workflows/counts"), 5000);
}

function Row({ one }: { one: Workflow }) {
  return (
    <tr data-row tabIndex={-1}>
      <td>
        <WorkflowMark status={one.status} />
      </td>
      <td class="clip">{one.workflow}</td>
      <td class="clip">
        <a href={workflowLink(one.workflow, one.id)} title={one.id}>
          {one.id}
        </a>
      </td>
      <td class="number" data-label="version">{one.version || "–"}</td>
      <td class="wide clip" title={one.reason}>
        {one.reason ?? ""}
      </td>
      <td class="number" data-label="started">
        <Time at={one.startedAt} />
      </td>
      <td class="number" data-label="ended">
        <Time at={one.endedAt} />
      </td>
    </tr>
  );
}

function NoWorkflows({ narrowed }: { narrowed: boolean }) {
  if (narrowed)
    return (
      <Empty title="No workflow fits these filters">
        <p>
          <a href="/desk/workflows">Show all</a>
        </p>
      </Empty>
    );
  return (
    <Empty title="No workflow was started yet">
      <p>
        A workflow is a function of your program that goes on after a crash where it was. The program adds it with{" "}
        <code>node.add(approve_order)</code> and starts one with <code>tx.start(approve_order, "o1", order)</code>.
        Any other program starts it with a row:{" "}
        <code>INSERT INTO workflow_instances (workflow, id, arguments) VALUES (…)</code>
      </p>
    </Empty>
  );
}

/// How many are open of a status, over all names and versions.
function total(counts: WorkflowCount[], status: WorkflowStatus): number {
  return counts.filter((each) => each.status === status).reduce((sum, each) => sum + each.count, 0);
}

function Workflows() {
  const counts = useCounts().value.value?.open ?? [];
  const page = usePaged<Workflow>(
    (before) =>
      `/_rf/workflows${query({
        status: filters.value.get("status"),
        workflow: filters.value.get("workflow"),
        id: filters.value.get("id"),
        limit: 50,
        before,
      })}`,
    "workflows",
  );
  const narrowed = names.some((name) => filters.value.has(name));
  return (
    <section>
      <h1>Workflows</h1>
      <div class="filters">
        <Choice
          name="status"
          label="Status"
          options={[
            ["", "any"],
            ...open.map((each): [string, string] => [each, `${each} (${count(total(counts, each))})`]),
            ...ended.map((each): [string, string] => [each, each]),
          ]}
        />
        <Text name="workflow" label="Workflow" list="workflow-names" />
        <datalist id="workflow-names">
          {[...new Set(counts.map((each) => each.workflow))].map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <Text name="id" label="Id" />
      </div>
      <Listing
        from={page}
        empty={<NoWorkflows narrowed={narrowed} />}
        heads={[
          "Status",
          "Workflow",
          "Id",
          { text: "Version", as: "number" },
          { text: "Why", as: "wide" },
          { text: "Started", as: "number" },
          { text: "Ended", as: "number" },
        ]}
        row={(each) => <Row key={each.seq} one={each} />}
      />
    </section>
  );
}

/// Nothing where none is open: most nodes have none.
function WorkflowsOnOverview() {
  const counts = useCounts().value.value?.open ?? [];
  if (counts.length === 0) return <></>;
  const workflows = [...new Set(counts.map((each) => each.workflow))];
  return (
    <section>
      <h2>Open workflows</h2>
      <Table
        heads={["Workflow", ...open.map((text) => ({ text, as: "number" as const }))]}
        rows={workflows}
        row={(workflow) => (
          <tr key={workflow} data-row tabIndex={-1}>
            <td class="clip">
              <a href={`/desk/workflows${query({ workflow })}`}>{workflow}</a>
            </td>
            {open.map((status) => {
              const many = total(counts.filter((each) => each.workflow === workflow), status);
              return (
                <td key={status} class="number" data-label={status}>
                  {many > 0 ? (
                    <a
                      class={status === "quarantined" ? "bad" : undefined}
                      href={`/desk/workflows${query({ status, workflow })}`}
                    >
                      {count(many)}
                    </a>
                  ) : (
                    "–"
                  )}
                </td>
              );
            })}
          </tr>
        )}
      />
    </section>
  );
}

export const workflows: DeskPage = {
  name: "workflows",
  title: "Workflows",
  needs: "GET /_rf/workflows",
  show: () => <Workflows />,
  showOne: (id) => <WorkflowPage address={id} />,
  onOverview: () => <WorkflowsOnOverview />,
};
