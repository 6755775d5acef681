// What a page of the desk is. Each is a file of pages/ and a line of pages.ts.

import type { VNode } from "preact";

export interface DeskPage {
  name: string; // The first part of its address, /desk/NAME.
  title: string;
  needs?: string; // A route, such as "GET /_rf/queue": a node without it does not show the page.
  show: () => VNode;
  showOne?: (id: string) => VNode; // At /desk/NAME/ID.
  bubble?: () => string; // A count beside its title in the menu; empty for none.
  onOverview?: () => VNode; // What the overview shows of it.
}
