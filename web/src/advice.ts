// What to do about each reason that the light gives. Pure.

import { messageLink } from "./route";

export interface Advice {
  text: string;
  link: string;
}

const rules: Array<[RegExp, Advice]> = [
  [/of the queue .* given up/, { text: "See why, then retry or finish them", link: "/desk/queues?state=given-up" }],
  [/in the queue .* the oldest/, { text: "See whether its workers run, and what is in the way", link: "/desk/queues" }],
  [/expired before/, { text: "See what ran out of time", link: "/desk/dead?status=Expired" }],
  [/\bdead\b/, { text: "See why they died, then requeue or resolve them", link: "/desk/dead" }],
  [/undeliverable/, { text: "Add the route, secret or handler; they go by themselves then", link: "/desk/destinations" }],
  [/is paused/, { text: "Resume it", link: "/desk/destinations" }],
  [/no answer|not answer|are shut/, { text: "See whether it is up; then try it now", link: "/desk/destinations" }],
  [/messages .*wait|has waited/, { text: "See which destination is slow or down", link: "/desk/destinations" }],
];

export function adviceOn(reason: string): Advice | null {
  const blocker = /wait behind .* behind ([0-9a-f-]{36})/.exec(reason)?.[1];
  if (blocker) return { text: "See the one they wait behind; requeue or resolve it", link: messageLink(blocker) };
  return rules.find(([pattern]) => pattern.test(reason))?.[1] ?? null;
}
