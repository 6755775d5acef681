// Tables and lists in pages, as every page shows them.

import type { ComponentChildren, VNode } from "preact";
import type { Paged } from "./paged";
import { Empty, Failure, More, Waiting } from "./ui";

/// A column's heading; one that is unseen is read aloud.
export interface Head {
  text: string;
  as?: "number" | "wide" | "unseen" | "tick";
  title?: string;
}

export function Table<Row>(props: {
  heads: Array<Head | string>;
  rows: Row[];
  row: (one: Row, index: number) => VNode;
  list?: boolean; // Of rows that are alike, in columns of fixed widths.
}) {
  const heads = props.heads.map((each): Head => (typeof each === "string" ? { text: each } : each));
  return (
    <div class="scroll">
      <table class={props.list ? "list" : undefined}>
        <thead>
          <tr>
            {heads.map(({ text, as, title }) =>
              as === "unseen" ? (
                <th key={text}>
                  <span class="unseen">{text}</span>
                </th>
              ) : (
                <th key={text} class={as} title={title}>
                  {text}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{props.rows.map(props.row)}</tbody>
      </table>
    </div>
  );
}

/// The pages of a list: why it cannot be read, that it is being read, what would be there, its rows.
export function Listing<Row>(props: {
  from: Paged<Row>;
  empty: VNode;
  heads: Array<Head | string>;
  row: (one: Row, index: number) => VNode;
  above?: ComponentChildren; // Shown with rows only.
  more?: string;
}) {
  const { rows, next, failure, again, more } = props.from;
  return (
    <>
      <Failure why={failure} again={again} />
      {!rows && !failure && <Waiting />}
      {rows?.length === 0 && next === null && props.empty}
      {rows && rows.length > 0 && (
        <>
          {props.above}
          <Table heads={props.heads} rows={rows} row={props.row} list />
        </>
      )}
      <More next={next} onMore={more} label={props.more} />
    </>
  );
}

/// What stands in place of a page about one thing that is not there, or not yet.
export function NotShown({ what, why, children }: { what: string; why: string; children: ComponentChildren }) {
  if (!why) return <Waiting />;
  return (
    <Empty title={`This ${what} cannot be shown`}>
      <p>{why}</p>
      <p>{children}</p>
    </Empty>
  );
}
