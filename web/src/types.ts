// What the admin API answers, as far as the desk uses it; docs/operating/monitoring.md has all of it.

export type Light = "green" | "yellow" | "red";
export type Status = "Pending" | "Sent" | "Dead" | "Expired" | "Resolved";

/// Who asks, as the node knows it.
export interface Caller {
  name: string;
  role: "viewer" | "worker" | "operator";
  rights: string[];
  by: "loopback" | "key" | "session" | "proxy";
  csrf?: string; // What a change must bring.
  until?: string; // When the session ends.
}

export interface Alarm {
  count: number;
  countAtLeast?: boolean;
  destination?: string;
  error?: string;
}

export interface Health {
  status: Light;
  working: boolean;
  reasons: string[];
  service: string;
  version: string;
  durable: boolean;
  undeliverable: Alarm;
}

export interface Backlog {
  destination: string;
  pending: number;
  pendingAtLeast?: boolean;
  oldestAgeMs?: number;
  undeliverable?: number;
}

export interface Peer {
  destination: string;
  reachable: boolean;
  since: string;
}

/// A message that was given up, behind which others of its order key wait.
export interface Blocker {
  messageId: string;
  status: Status;
  since?: string;
}

export interface Blocked {
  messages: number;
  messagesAtLeast?: boolean;
  keys: Array<{ destination: string; orderKey: string; waiting: number; behind: Blocker }>;
}

export interface Stats {
  pending: number;
  pendingAtLeast?: boolean;
  failed: number;
  failedAtLeast?: boolean;
  expired: number;
  expiredAtLeast?: boolean;
  resolved: number;
  resolvedAtLeast?: boolean;
  oldestAgeMs: number;
  undeliverable: Alarm;
  blocked?: Blocked;
  backlog: Backlog[];
  moreDestinations?: boolean;
  peers: Peer[];
}

export interface Lane {
  destination: string;
  state: string;
  breaker?: string;
  until?: string;
  queued?: number;
  inFlight?: number;
  window?: number;
  batch?: number;
  batchMax?: number;
  rate?: number;
  pausedSince?: string;
  reason?: string;
  cause?: string;
  waiting?: number;
}

export interface Message {
  messageId: string;
  seq: number;
  messageType: string;
  destination: string;
  endpoint: string;
  status: Status;
  retryCount: number;
  maxRetries: number;
  createdAt: string;
  expiresAt: string;
  nextRetryAt?: string;
  deliverAt?: string;
  lastAttemptAt?: string;
  sentAt?: string;
  lastError?: string;
  resolution?: string;
  correlationId?: string;
  tenant?: string;
  orderKey?: string;
  causationId?: string;
}

export interface DeadLetter extends Message {
  state: string;
  closedAt?: string;
  cause?: number;
  causeText?: string;
}

export interface Attempt {
  attempt: number;
  at: string;
  error: string;
}

export interface Detail extends DeadLetter {
  contentType: string;
  payloadBytes: number;
  attempts: Attempt[];
  payload?: string;
  headers?: string;
  waitsBehind?: Blocker;
}

export interface Group {
  cause: number;
  count: number;
  destination: string;
  endpoint: string;
  text: string;
  firstAt: string;
  lastAt: string;
  example?: string;
}

export interface Groups {
  groups: Group[];
  more?: boolean;
  ungrouped?: number;
}

export interface InboxStats {
  size: number;
  sizeAtLeast?: boolean;
  processed?: number;
  duplicates?: number;
  duplicateRate?: number;
}

export interface InboxRow {
  messageId: string;
  seq: number;
  sourceServiceId: string;
  endpoint: string;
  processedAt?: string;
  claimedUntil?: string;
  expiresAt: string;
}

export interface Page<Row> {
  messages: Row[];
  next: number | null;
}

export interface Slice {
  changed: number;
  expired: number;
  next: number | null;
}
