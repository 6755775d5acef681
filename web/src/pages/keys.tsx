import { get } from "../api";
import { Table } from "../listing";
import { useLoaded } from "../load";
import type { DeskPage } from "../page";
import type { AdminKey, KeyReport, Light, PeerKey } from "../types";
import { Empty, Failure, Time, Waiting } from "../ui";

const may: Record<string, string> = {
  viewer: "look",
  worker: "take jobs from queues",
  operator: "look and change",
};
const stateWord: Record<PeerKey["state"], string> = {
  signs: "signs",
  verifies: "verifies only",
  later: "signs later",
  expired: "expired",
  revoked: "revoked",
};
const stateLight: Partial<Record<PeerKey["state"], Light>> = { expired: "yellow", revoked: "yellow" };

function Admin({ all }: { all: AdminKey[] }) {
  if (all.length === 0)
    return (
      <Empty title="No admin key is configured">
        <p>
          On loopback anyone on this machine may look, and none may change anything.{" "}
          <code>posthorn keys admin new --name night-shift --role operator</code> makes a key and the line for{" "}
          <code>[admin]</code>.
        </p>
      </Empty>
    );
  return (
    <Table
      heads={[
        "Name",
        "Role",
        "May",
        "Payloads",
        "Secrets",
        { text: "Made", as: "number" },
        { text: "What it did", as: "unseen" },
      ]}
      rows={all}
      row={(each) => (
        <tr key={each.name} data-row tabIndex={-1}>
          <td class="clip">{each.name}</td>
          <td>{each.role}</td>
          <td>{may[each.role] ?? ""}</td>
          <td data-label="payloads">{each.payloads ? "may read them" : "–"}</td>
          <td data-label="secrets">{each.secrets ? "may be shown new ones" : "–"}</td>
          <td class="number" data-label="made">
            {each.madeAt ? <Time at={each.madeAt} /> : <span class="quiet">not said</span>}
          </td>
          <td>
            <a href={`/desk/audit?who=${encodeURIComponent(each.name)}`}>What it did</a>
          </td>
        </tr>
      )}
    />
  );
}

function Peers({ all }: { all: KeyReport["peers"] }) {
  if (all.length === 0)
    return (
      <Empty title="No secret is shared with another service">
        <p>
          Messages between services are signed. <code>posthorn keys new</code> makes a secret; both sides get it
          under <code>[secrets]</code>.
        </p>
      </Empty>
    );
  return (
    <Table
      heads={[
        "Service",
        "Key",
        "State",
        { text: "Signs from", as: "number" },
        { text: "Verifies until", as: "number" },
        "Scheme",
      ]}
      rows={all.flatMap((peer) => peer.keys.map((each) => ({ peer, each })))}
      row={({ peer, each }) => (
        <tr key={`${peer.peer} ${each.id}`} data-row tabIndex={-1}>
          <td class="clip">{peer.peer}</td>
          <td class="id">{each.id}</td>
          <td>
            <span class={`mark ${stateLight[each.state] ?? ""}`}>{stateWord[each.state]}</span>
          </td>
          <td class="number" data-label="signs from">
            {each.signsFrom ? <Time at={each.signsFrom} /> : "the start"}
          </td>
          <td class="number" data-label="verifies until">
            {each.verifiesUntil ? <Time at={each.verifiesUntil} /> : "no end"}
          </td>
          <td>{peer.scheme}</td>
        </tr>
      )}
    />
  );
}

function Keys() {
  const read = useLoaded(() => get<KeyReport>("/_rf/keys"), 10000);
  const told = read.value.value;
  return (
    <>
      <h1>Keys</h1>
      <Failure why={read.failure.value} again={read.again} />
      {!told && !read.failure.value && <Waiting />}
      {told && (
        <>
          <section>
            <h2>Of people and programs, for this listener</h2>
            <Admin all={told.admin} />
          </section>
          <section>
            <h2>Shared with other services</h2>
            <Peers all={told.peers} />
            <p class="quiet">
              A key's name follows from its secret and does not tell it. <code>posthorn keys rotate</code> puts a new
              one beside the old.
            </p>
          </section>
        </>
      )}
    </>
  );
}

export const keys: DeskPage = { name: "keys", title: "Keys", needs: "GET /_rf/keys", show: () => <Keys /> };
