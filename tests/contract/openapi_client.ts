// client.js URL KEY: lists what waits, with types that were made of the node's description.

import type { paths } from "./api";

declare const process: { argv: string[] };

type Good<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { "application/json": infer Answer } } } };
}
  ? Answer
  : never;
type Query<Path extends keyof paths> = paths[Path] extends { get: { parameters: { query?: infer Asked } } }
  ? Asked
  : never;

const [, , url = "", key = ""] = process.argv;

async function get<Path extends keyof paths & string>(path: Path, query: Query<Path>): Promise<Good<Path>> {
  const asked = new URLSearchParams(query as Record<string, string>);
  const answer = await fetch(`${url}${path}?${asked}`, { headers: { Authorization: `Bearer ${key}` } });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as Good<Path>;
}

const page = await get("/_rf/outbox", { status: "Pending", destination: "crm" });
for (const each of page.messages) console.log(each.destination, each.status);
