import { query } from "../api";
import { shortId } from "../format";
import { Listing } from "../listing";
import type { DeskPage } from "../page";
import { usePaged } from "../node_paged";
import { filters, messageLink } from "../route";
import type { Message } from "../types";
import { Empty, StatusMark, Time } from "../ui";
import { Choice, DestinationText, MoreFilters, Text, timeNames, times, When } from "./filters";
import { MessagePage } from "./message";

const more = ["correlationId", "causationId", "orderKey", "tenant", "error"];
const names = ["status", "destination", "endpoint", ...more];

function asked(before: number | null): string {
  const wanted: Record<string, string | number | null | undefined> = { limit: 50, before };
  for (const name of names) wanted[name] = filters.value.get(name);
  return `/_rf/outbox${query({ ...wanted, ...times() })}`;
}

function Row({ one }: { one: Message }) {
  return (
    <tr data-row tabIndex={-1}>
      <td class="id">
        <a href={messageLink(one.messageId)} title={one.messageId}>
          {shortId(one.messageId)}
        </a>
      </td>
      <td>
        {one.parked ? <span class="mark yellow">parked</span> : <StatusMark status={one.status} />}
      </td>
      <td class="clip">{one.destination}</td>
      <td class="clip">{one.endpoint}</td>
      <td class="number" data-label="failed">
        {one.retryCount > 0 ? one.retryCount : "–"}
      </td>
      <td class="wide clip" title={one.lastError}>
        {one.lastError ?? ""}
      </td>
      <td class="number">
        <Time at={one.createdAt} />
      </td>
    </tr>
  );
}

function NoMessages() {
  const narrowed = [...names, ...timeNames].some((name) => filters.value.has(name));
  return narrowed ? (
    <Empty title="No message fits these filters">
      <p>
        Sent messages are deleted after their retention. <a href="/desk/messages">Show all</a>
      </p>
    </Empty>
  ) : (
    <Empty title="No messages yet">
      <p>
        A message is written in the transaction that causes it:{" "}
        <code>INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('stock', 'reserve', '{"{}"}')</code>.
      </p>
    </Empty>
  );
}

function Messages() {
  const page = usePaged<Message>(asked);
  return (
    <section>
      <h1>Messages</h1>
      <div class="filters">
        <Choice
          name="status"
          label="Status"
          options={[["", "any"], ...["Pending", "Sent", "Dead", "Expired", "Resolved"].map((each): [string, string] => [each, each])]}
        />
        <DestinationText />
        <Text name="endpoint" label="Endpoint" />
        <MoreFilters names={more} />
        <When label="Since" />
      </div>
      <Listing
        from={page}
        empty={<NoMessages />}
        heads={[
          "Message",
          "Status",
          "Destination",
          "Endpoint",
          { text: "Failed", as: "number", title: "Attempts that failed" },
          { text: "Last error", as: "wide" },
          { text: "Created", as: "number" },
        ]}
        row={(each) => <Row key={each.messageId} one={each} />}
      />
    </section>
  );
}

export const messages: DeskPage = {
  name: "messages",
  title: "Messages",
  show: () => <Messages />,
  showOne: (id) => <MessagePage id={id} />,
};
