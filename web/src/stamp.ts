// What the node tells of its databases once a second: another number when something was written.

import { signal } from "@preact/signals";

/// Null where it is not told, so that what is shown has to be asked for again and again.
export const stamp = signal<number | null>(null);
