// What to do about each reason that the light gives. Pure.

export interface Advice {
  text: string;
  link: string;
}

const rules: Array<[RegExp, Advice]> = [
  [/\bdead\b/, { text: "See why they died, then requeue or resolve them", link: "/desk/dead" }],
  [/expired/, { text: "See what ran out of time", link: "/desk/dead?status=Expired" }],
  [/undeliverable/, { text: "Add the route, secret or handler; they go by themselves then", link: "/desk/destinations" }],
  [/is paused/, { text: "Resume it", link: "/desk/destinations" }],
  [/does not answer|are shut/, { text: "See whether it is up; then try it now", link: "/desk/destinations" }],
  [/messages wait|has waited/, { text: "See which destination is slow or down", link: "/desk/destinations" }],
];

export function adviceOn(reason: string): Advice | null {
  return rules.find(([pattern]) => pattern.test(reason))?.[1] ?? null;
}
