// At a centre: its sites, and what they have parked.

import { useSignal } from "@preact/signals";
import { get, post, query } from "../api";
import { count } from "../format";
import type { KnownSite, ParkedAtSite, SiteCall } from "../forward_types";
import { Listing, Table } from "../listing";
import { useLoaded } from "../load";
import { usePaged } from "../node_paged";
import { filter, filters } from "../route";
import { attempt, Empty, Failure, Time } from "../ui";
import { DiscardDialog } from "./held";

const unnamed = "$unknown-site";

/// What the routes take for a site: one without a name goes by its service.
function keyOf(one: { site: string; service: string }): string {
  return one.site === unnamed ? one.service : one.site;
}

function SiteRow({ one }: { one: KnownSite }) {
  return (
    <tr data-row tabIndex={-1}>
      <td class="clip">
        <a href={`/desk/forward${query({ site: keyOf(one) })}`} title={one.site}>
          {one.site}
        </a>
      </td>
      <td class="clip">{one.service}</td>
      <td class="number" data-label="calls">{count(one.calls)}</td>
      <td class="number" data-label="parked">{one.parked > 0 ? <span class="bad">{count(one.parked)}</span> : "–"}</td>
      <td class="number" data-label="notifications">{count(one.notifications)}</td>
      <td class="number">
        <Time at={one.lastTold} />
      </td>
    </tr>
  );
}

function Decide({ id, site, again }: { id: string; site: string; again: () => void }) {
  const discarding = useSignal(false);
  const decide = (verb: "retry" | "discard", told: string) =>
    attempt(async () => {
      await post(`/_rf/forward/messages/${encodeURIComponent(id)}/${verb}${query({ site })}`);
      again();
      return told;
    });
  return (
    <>
      <button type="button" onClick={() => decide("retry", `${site} tries it again.`)}>
        Retry
      </button>{" "}
      <button type="button" onClick={() => (discarding.value = true)}>
        Discard…
      </button>
      {discarding.value && (
        <DiscardDialog
          id={id}
          at={site}
          discard={() => decide("discard", `${site} has discarded it.`)}
          onClose={() => (discarding.value = false)}
        />
      )}
    </>
  );
}

const parkedHeads = [
  "Id",
  "Site",
  "Category",
  "Target",
  "Of instance",
  { text: "Retries", as: "number" as const },
  { text: "Why", as: "wide" as const },
  { text: "What to do", as: "unseen" as const },
];

function ParkedRow({ one, site, again }: { one: ParkedAtSite; site: string; again: () => void }) {
  return (
    <tr data-row tabIndex={-1}>
      <td class="id">{one.id}</td>
      <td class="clip">{site}</td>
      <td class="clip">{one.category}</td>
      <td class="clip" title={one.target}>
        {one.target}
      </td>
      <td class="clip">{one.originInstance ?? "–"}</td>
      <td class="number" data-label="retries">{count(one.retryCount)}</td>
      <td class="wide clip" title={one.lastError}>
        {one.lastError ?? ""}
      </td>
      <td class="buttons">
        <Decide id={one.id} site={site} again={again} />
      </td>
    </tr>
  );
}

/// Of all sites, as they told their centre: calls, and each with the instance that asked for it.
function ParkedAnywhere() {
  const page = usePaged<SiteCall>(
    (after) => `/_rf/centre/calls${query({ status: "Parked", limit: 50, after })}`,
    "calls",
  );
  return (
    <section aria-label="Parked at all sites">
      <h2>Parked at all sites</h2>
      <Listing
        from={page}
        empty={<Empty title="No site has told of a call that is parked" />}
        heads={parkedHeads}
        row={(each) => (
          <ParkedRow
            key={each.id + each.service}
            one={{ ...each, category: each.kind, originInstance: each.sourceInstance }}
            site={keyOf(each)}
            again={page.again}
          />
        )}
      />
    </section>
  );
}

interface AtSite {
  mirror: boolean;
  note?: string;
  messages: ParkedAtSite[];
  next?: number;
}

/// Of one site, asked itself, notifications too; while it is down, what the mirror knows.
function ParkedAt({ site }: { site: string }) {
  const after = filters.value.get("after");
  const read = useLoaded(
    () => get<AtSite>(`/_rf/forward/parked${query({ site: filters.value.get("site"), limit: 50, after: filters.value.get("after") })}`),
    5000,
  );
  const page = read.value.value;
  return (
    <section aria-label="Parked at this site">
      <h2 class="whole">Parked at {site}</h2>
      <p>
        <a href="/desk/forward">All sites</a>
      </p>
      <Failure why={read.failure.value} again={read.again} />
      {page?.mirror && <p class="preview">{page.note}</p>}
      {page?.messages.length === 0 && <Empty title={after ? "There is no more" : "Nothing is parked there"} />}
      {page && page.messages.length > 0 && (
        <Table
          heads={parkedHeads}
          rows={page.messages}
          row={(each) => <ParkedRow key={each.id} one={each} site={site} again={read.again} />}
          list
        />
      )}
      {page?.next && (
        <button type="button" onClick={() => filter({ after: String(page.next) })}>
          Later ones
        </button>
      )}
    </section>
  );
}

/// Nothing where no site has been heard of: most nodes are no centre.
export function Sites() {
  const read = useLoaded(() => get<{ sites: KnownSite[] }>("/_rf/centre/sites"), 5000);
  const all = read.value.value?.sites ?? [];
  if (all.length === 0) return <></>;
  const site = filters.value.get("site");
  return (
    <>
      <section aria-label="Sites">
        <h2>Sites</h2>
        <Table
          heads={[
            "Site",
            "Service",
            { text: "Calls", as: "number" },
            { text: "Parked", as: "number" },
            { text: "Notifications", as: "number" },
            { text: "Last told", as: "number" },
          ]}
          rows={all}
          row={(each) => <SiteRow key={each.service + each.site} one={each} />}
        />
      </section>
      {site ? <ParkedAt site={site} /> : <ParkedAnywhere />}
    </>
  );
}
