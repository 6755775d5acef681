// What differs between two states of a workflow, at the deepest place that both have. Pure.

export interface StateChange {
  path: string; // Empty for the whole.
  before?: unknown; // Undefined where there was nothing.
  after?: unknown;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

export function stateChanges(before: unknown, after: unknown, path = ""): StateChange[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (!isObject(before) || !isObject(after) || Array.isArray(before) !== Array.isArray(after))
    return [{ path, before, after }];
  const names = [...Object.keys(after), ...Object.keys(before).filter((name) => !(name in after))];
  return names.flatMap((name) => stateChanges(before[name], after[name], path ? `${path}.${name}` : name));
}
