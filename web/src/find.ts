// What a person means who types an id: a message's, or one that messages share.

import { get, query, Refusal } from "./api";
import { messageLink } from "./route";
import type { Message, Page } from "./types";

const isMessageId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const pagesMax = 5; // A page looks at a limited number of rows, and may have found none of them.

async function isMessage(id: string): Promise<boolean> {
  try {
    await get(`/_rf/outbox/${encodeURIComponent(id)}`);
    return true;
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.status === 404) return false;
    throw thrown;
  }
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

/// The address of what has this id; null if nothing has.
export async function find(text: string): Promise<string | null> {
  if (isMessageId.test(text) && (await isMessage(text))) return messageLink(text);
  for (const name of ["correlationId", "orderKey", "causationId"])
    if (await hasAny({ [name]: text })) return `/desk/messages${query({ [name]: text })}`;
  return null;
}
