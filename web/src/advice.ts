// What to do about each reason that the light gives. Pure.

import { messageLink } from "./route";

export interface Advice {
  text: string;
  link: string;
}

const rules: Array<[RegExp, Advice]> = [
  [/^(the store |the last backup|the disk|a write has waited|messages in the table|a message in the table|what became of)/, { text: "See the database and its disk", link: "/desk/store" }],
  [/^the clock/, { text: "See what the node finds of its clock", link: "/desk/store" }],
  [/^(the standby |the archive |the first base of the archive|this disk alone|between .* nothing was archived|(a file|\d+ files) of the archive)/, { text: "See the standby and the archive", link: "/desk/standby" }],
  [/of the queue .* given up/, { text: "See why, then retry or finish them", link: "/desk/queues?state=given-up" }],
  [/in the queue .* the oldest/, { text: "See whether its workers run, and what is in the way", link: "/desk/queues" }],
  [/expired before/, { text: "See what ran out of time", link: "/desk/dead?status=Expired" }],
  [/^[^:]*\bdead\b/, { text: "See why they died, then requeue or resolve them", link: "/desk/dead" }],
  [/undeliverable/, { text: "Add the route, secret or handler; they go by themselves then", link: "/desk/destinations" }],
  [/is paused/, { text: "Resume it", link: "/desk/destinations" }],
  [/do not pass the check/, { text: "Compare the keys that are shared with it", link: "/desk/keys" }],
  [/no answer.*(bad_signature|the key that)/, { text: "Compare the keys of both sides and reload them; then try it now", link: "/desk/destinations" }],
  [/no answer.*certificate/, { text: "See to its certificate; then try it now", link: "/desk/destinations" }],
  [/no answer|not answer|are shut/, { text: "See whether it is up; then try it now", link: "/desk/destinations" }],
  [/has no handler here|service behind endpoint|handler of endpoint/, { text: "See which handler fails, and since when", link: "/desk/inbox" }],
  [/nothing but fail/, { text: "See which endpoint fails, and what it answers", link: "/desk/webhooks" }],
  [/messages .*wait|has waited/, { text: "See which destination is slow or down", link: "/desk/destinations" }],
];

export function adviceOn(reason: string): Advice | null {
  const webhook = /^'webhook:([0-9a-f-]{36})'/.exec(reason)?.[1];
  if (webhook) return { text: "See what the endpoint answers; then send it a test", link: `/desk/webhooks/${webhook}` };
  const blocker = /wait behind .* behind ([0-9a-f-]{36})/.exec(reason)?.[1];
  if (blocker) return { text: "See the one they wait behind; requeue or resolve it", link: messageLink(blocker) };
  const own = reason.replace(/'[^']*'/g, "''"); // What is quoted are names, which may be any words.
  return rules.find(([pattern]) => pattern.test(own))?.[1] ?? null;
}
