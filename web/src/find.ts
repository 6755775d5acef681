// What a person means who types an id: a message's, or one that messages share.

import { get, query, Refusal } from "./api";
import { routes } from "./node";
import { inboxLink, messageLink } from "./route";
import type { Life, Message, Page, SearchAnswer } from "./types";

export const isMessageId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const shared = ["correlationId", "orderKey", "causationId"];
const pagesMax = 5; // A page looks at a limited number of rows, and may have found none of them.

async function isAt(path: string, id: string): Promise<boolean> {
  try {
    await get(`${path}/${encodeURIComponent(id)}`);
    return true;
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.status === 404) return false;
    throw thrown;
  }
}

async function isHeld(id: string): Promise<boolean> {
  return (await isAt("/_rf/forward/messages", id)) || isAt("/_rf/forward/tracking", id);
}

async function hasAny(wanted: Record<string, string>): Promise<boolean> {
  let before: number | null = null;
  for (let page = 0; page < pagesMax; ++page) {
    const got: Page<Message> = await get<Page<Message>>(`/_rf/outbox${query({ ...wanted, limit: 1, before })}`);
    if (got.messages.length > 0) return true;
    before = got.next;
    if (before === null) return false;
  }
  return false;
}

export interface Found {
  address: string | null; // Of what has this id; null if nothing has.
  silent: string[]; // Nodes that did not answer.
}

async function findHere(text: string): Promise<string | null> {
  if (isMessageId.test(text)) {
    if (await isAt("/_rf/outbox", text)) return messageLink(text);
    if (await isAt("/_rf/inbox", text)) return inboxLink(text);
    if (routes.value?.has("GET /_rf/forward") && (await isHeld(text))) return `/desk/forward/${text}`;
  }
  for (const name of shared)
    if (await hasAny({ [name]: text })) return `/desk/messages${query({ [name]: text })}`;
  return null;
}

/// Whether another node has sent it or taken it in.
async function isKnownElsewhere(id: string): Promise<boolean> {
  if (!isMessageId.test(id) || !routes.value?.has("GET /_rf/life/{messageId}")) return false;
  return (await get<Life>(`/_rf/life/${id}`)).traces.length > 0;
}

/// In the other nodes, which are asked for each meaning at the same time. `taken` is the address of one that
/// stands in no outbox.
async function findElsewhere(text: string): Promise<Found & { taken: string | null }> {
  const meanings = [...(isMessageId.test(text) ? ["messageId"] : []), ...shared];
  const [isKnown, answers] = await Promise.all([
    isKnownElsewhere(text),
    Promise.all(meanings.map((name) => get<SearchAnswer>(`/_rf/search${query({ [name]: text, limit: 1 })}`))),
  ]);
  const meant = meanings.find((_, i) => answers[i]!.hits.length > 0);
  const silent = new Set(answers.flatMap((each) => each.nodes.filter((node) => !node.answered).map((node) => node.node)));
  return {
    address: meant ? `/desk/nodes${query({ [meant]: text })}` : null,
    taken: isKnown ? `/desk/nodes${query({ messageId: text })}` : null,
    silent: [...silent],
  };
}

/// What other nodes have is shown together with what this one has.
export async function find(text: string): Promise<Found> {
  const here = await findHere(text);
  if (!routes.value?.has("GET /_rf/search")) return { address: here, silent: [] };
  const elsewhere = await findElsewhere(text);
  return { address: elsewhere.address ?? here ?? elsewhere.taken, silent: elsewhere.silent };
}
