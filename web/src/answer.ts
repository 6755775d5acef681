// What every page knows of answers, whoever gives them: the desk's node, or the portal.

import { signal } from "@preact/signals";

export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field = "", // Of what was sent, that it is about.
  ) {
    super(message);
  }
}

/// Why a person is asked who they are; null while none is. Nothing is read again meanwhile.
export const asking = signal<string | null>(null);

export async function refusalOf(answer: Response): Promise<Refusal> {
  try {
    const told = (await answer.json()) as { error?: string; message?: string; field?: string };
    return new Refusal(answer.status, told.error ?? "", told.message ?? answer.statusText, told.field);
  } catch {
    return new Refusal(answer.status, "", `The node answered ${answer.status}.`);
  }
}

/// `?name=value` of what is not empty.
export function query(fields: Record<string, string | number | boolean | null | undefined>): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && value !== null && value !== "") text.set(name, String(value));
  const joined = text.toString().replaceAll("+", "%20");
  return joined ? `?${joined}` : "";
}

/// What to tell a person of anything that was thrown.
export function wordsOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
