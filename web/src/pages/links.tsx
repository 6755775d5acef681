import { get } from "../api";
import { useLoaded } from "../load";
import { inboxLink, messageLink } from "../route";
import type { LinkedMessage, Links, Status, TakenMessage } from "../types";
import { Failure, StatusMark, Time } from "../ui";

function Sent({ one }: { one: LinkedMessage }) {
  return (
    <>
      <a href={messageLink(one.messageId)}>
        {one.endpoint} to {one.destination}
      </a>{" "}
      <StatusMark status={one.status as Status} />{" "}
      <span class="quiet">
        <Time at={one.createdAt} />
      </span>
    </>
  );
}

function Taken({ one }: { one: TakenMessage }) {
  return (
    <>
      {one.endpoint} from {one.sourceServiceId},{" "}
      {one.processedAt ? (
        <>
          handled <Time at={one.processedAt} />
        </>
      ) : (
        "at work"
      )}
    </>
  );
}

function Cause({ told }: { told: Links }) {
  const { cause } = told;
  if (!cause) return null;
  return (
    <li>
      <span class="label">Caused by</span>
      <span>
        {cause.sent ? (
          <Sent one={cause.sent} />
        ) : cause.taken ? (
          <a href={inboxLink(cause.messageId)}>
            <Taken one={cause.taken} />
          </a>
        ) : (
          <>
            <span class="whole">{cause.messageId}</span> <span class="quiet">not known here, or deleted since</span>
          </>
        )}
      </span>
    </li>
  );
}

/// What led to a message and what it led to, as far as this node knows.
export function LinkList({ id }: { id: string }) {
  const read = useLoaded(() => get<Links>(`/_rf/links/${encodeURIComponent(id)}`), 5000);
  const told = read.value.value;
  if (!told) return <Failure why={read.failure.value} again={read.again} />;
  const none = !told.cause && told.taken.length === 0 && told.caused.length === 0;
  return (
    <>
      {none && (
        <p class="quiet">
          No cause is recorded, and nothing that it caused is known here. A handler that sends with its context
          records itself as the cause.
        </p>
      )}
      <ul class="links">
        <Cause told={told} />
        {told.taken.map((each) => (
          <li key={each.sourceServiceId}>
            <span class="label">Taken in here</span>
            <span>
              <a href={inboxLink(id)}>
                <Taken one={each} />
              </a>
            </span>
          </li>
        ))}
        {told.caused.map((each) => (
          <li key={each.messageId}>
            <span class="label">Led to</span>
            <span>
              <Sent one={each} />
            </span>
          </li>
        ))}
      </ul>
      {told.more && <p class="quiet">What was sent long after it was not looked at.</p>}
    </>
  );
}
