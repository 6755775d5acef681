import { count } from "../format";
import { stats, whyOf, type Destination } from "../node";
import { messageLink } from "../route";
import { StatusMark, Time } from "../ui";

/// Order keys whose messages wait behind one that was given up, each with a link to that one.
export function Parked() {
  const blocked = stats.value?.blocked;
  if (!blocked || blocked.keys.length === 0) return null;
  return (
    <section id="parked">
      <h2>Parked behind one that was given up</h2>
      <p class="quiet">
        Messages of an order key go in their order. Requeue or resolve the one in the way, and they follow by
        themselves; meanwhile they may expire.
      </p>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Destination</th>
              <th>Order key</th>
              <th class="number">Parked</th>
              <th>In the way</th>
              <th class="number">Given up</th>
            </tr>
          </thead>
          <tbody>
            {blocked.keys.map((each) => (
              <tr key={each.behind.messageId} data-row tabIndex={-1}>
                <td class="clip">{each.destination}</td>
                <td class="clip" title={each.orderKey}>
                  {each.orderKey}
                  {each.tenant && <span class="quiet aside">tenant {each.tenant}</span>}
                </td>
                <td class="number" data-label="parked">{count(each.waiting, each.waitingAtLeast)}</td>
                <td>
                  <a class="id" href={messageLink(each.behind.messageId)}>
                    {each.behind.messageId}
                  </a>{" "}
                  <StatusMark status={each.behind.status} />
                </td>
                <td class="number" data-label="given up">
                  <Time at={each.behind.since} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {blocked.messagesAtLeast && <p class="quiet">There may be more keys; these are behind the oldest.</p>}
    </section>
  );
}

/// Why messages for a destination wait.
export function Why({ one }: { one: Destination }) {
  return (
    <>
      {whyOf(one)}
      {one.cause?.startsWith("bad_signature") && (
        <span class="aside">
          <a href="/desk/keys">Compare the keys</a>
        </span>
      )}
      {one.parked > 0 && (
        <span class="aside">
          <a href={one.parkedKeys === 1 ? messageLink(one.parkedBehind) : "#parked"}>
            {count(one.parked)} parked behind {one.parkedKeys === 1 ? "a dead one" : `${one.parkedKeys} dead ones`}
          </a>
        </span>
      )}
    </>
  );
}

/// Of the message that is in the way: what waits behind it.
export function followersOf(messageId: string) {
  return stats.value?.blocked?.keys.find((each) => each.behind.messageId === messageId) ?? null;
}
