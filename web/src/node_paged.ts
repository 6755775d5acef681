// The same of what the node lists.

import { get } from "./api";
import { usePagedOf, type Paged } from "./paged";

export function usePaged<Row extends { seq: number }>(
  path: (after: number | null) => string,
  list = "messages",
  soonMs = 0,
): Paged<Row> {
  return usePagedOf<Row>(get, path, list, soonMs);
}
