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

export interface BlockedKey {
  destination: string;
  orderKey: string;
  tenant?: string;
  waiting: number;
  waitingAtLeast?: boolean;
  behind: Blocker;
}

export interface Blocked {
  messages: number;
  messagesAtLeast?: boolean;
  keys: BlockedKey[];
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
  since?: string; // Shut or throttled.
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
  parked?: boolean; // It waits behind another of its order key.
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
  failed?: number;
  refused?: number;
  conflicts?: number;
}

/// What a web service answered when it did not take a message.
export interface RefusedCall {
  at: string;
  messageId: string;
  source: string;
  endpoint: string;
  status: number;
  answer: string;
}

/// A message that was not taken in, however often it came.
export interface FailedMessage {
  messageId: string;
  source: string;
  endpoint: string;
  first: string;
  last: string;
  times: number;
  why: string;
  error?: string;
}

/// All that the receiver knows of one message.
export interface TakenDetail {
  received: Array<InboxRow & { state: "processed" | "at work"; claimedBy?: string }>;
  failed?: FailedMessage[]; // Of a node that tells it.
}

/// What became of the messages for an endpoint since the node started.
export interface Handler {
  endpoint: string;
  handled: number;
  duplicates: number;
  failed: number;
  p50Ms?: number;
  p99Ms?: number;
  failing?: { since: string; last: string; times: number; source: string; why: string; error?: string };
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

export interface Queue {
  endpoint: string;
  waiting: number;
  taken: number;
  workers: number;
  givenUp: number;
  parked: number;
  attemptsMax: number;
  oldestWaitingSince?: string;
}

export type JobState = "waiting" | "taken" | "given-up";

export interface Job {
  seq: number;
  state: JobState;
  endpoint: string;
  messageId: string;
  sourceServiceId: string;
  messageType: string;
  receivedAt: string;
  attempts: number;
  takenBy?: string;
  freeAt?: string;
  givenUpAt?: string;
  error?: string;
  waitsBehind?: { seq: number; messageId: string; givenUpAt: string };
  correlationId?: string;
  tenant?: string;
  orderKey?: string;
  contentType: string;
  payloadSize: number;
  payload?: string;
  payloadEncoding?: string;
}

export interface StoreDatabase {
  kind: string;
  place: string;
  holds: string;
  bytes?: number;
  logBytes?: number;
  freeBytes?: number;
  sizeError?: string;
  disk?: { state: string; lowWaterBytes: number; ballast: boolean; refused: number; freeBytes?: number };
}

export interface BackupState {
  made: number;
  failed: number;
  newest?: string;
  bytes?: number;
  tookMs?: number;
  lastError?: string;
}

export interface Finding {
  check: string;
  level: "ok" | "warn" | "bad";
  what: string;
  why?: string;
  todo?: string;
}

export interface StoreReport {
  databases: StoreDatabase[];
  backups?: { folder: string; everyMs: number; keepMs: number; databases: BackupState[] };
  retention: Array<{ what: string; keepMs: number | null }>;
  findings: Finding[];
}

export interface AuditEntry {
  seq: number;
  at: string;
  who: string;
  what: string;
  target: string;
  outcome: string;
}

export interface AdminKey {
  name: string;
  role: string;
  payloads: boolean;
  secrets: boolean;
  madeAt?: string;
}

export interface PeerKey {
  id: string;
  state: "signs" | "verifies" | "later" | "expired" | "revoked";
  signsFrom?: string;
  verifiesUntil?: string;
}

export interface KeyReport {
  admin: AdminKey[];
  peers: Array<{ peer: string; scheme: string; keys: PeerKey[] }>;
}

export interface LinkedMessage {
  messageId: string;
  destination: string;
  endpoint: string;
  status: string;
  createdAt: string;
}

export interface TakenMessage {
  sourceServiceId: string;
  endpoint: string;
  processedAt?: string;
  claimedUntil?: string;
}

/// What one of the other nodes knows of a message.
export interface Trace {
  node: string;
  what: "sent" | "taken" | "caused" | "cause";
  messageId: string; // Of the message itself, of what it caused, or of its cause.
  service: string; // Where it went, or who sent it there.
  endpoint: string;
  status: string; // Of the outbox; or "handled", "at work".
  at?: string;
}

export interface Life {
  traces: Trace[];
  nodes: Array<{ node: string; url: string; answered: boolean; more: boolean; why?: string }>;
}

export interface Links {
  cause?: { messageId: string; sent?: LinkedMessage; taken?: TakenMessage };
  taken: TakenMessage[];
  caused: LinkedMessage[];
  more: boolean;
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

/// Evenly spaced points; null where no node ran, or where there was nothing to measure.
type Points = Array<number | null>;

export interface History {
  from: string;
  stepSeconds: number;
  points: number;
  nodes: string[];
  endpoints: string[];
  outbox?: Record<
    "arrived" | "sent" | "failed" | "givenUp" | "p50Ms" | "p99Ms" | "waiting" | "oldestSeconds",
    Points
  >;
  inbox?: Record<"handled" | "failed" | "duplicates" | "p50Ms" | "p99Ms", Points>;
}

/// Another node, as this one sees it.
export interface WatchedNode {
  name: string;
  url: string;
  light: Light | "unknown";
  reasons: string[];
  since?: string;
  askedAt?: string;
  seenAt?: string; // When it told its health for the last time.
  latencyMs?: number;
  service?: string;
  version?: string;
}

export interface LightSpan {
  seq: number;
  from: string;
  to: string;
  light: Light;
  reasons: string[];
}

/// A message that a search over all nodes has found; of this very node, if it names none.
export interface Hit {
  node?: string;
  messageId: string;
  destination: string;
  endpoint: string;
  status: Status;
  createdAt: string;
  lastError?: string;
}

export interface SearchAnswer {
  hits: Hit[];
  nodes: Array<{ node: string; answered: boolean; more: boolean; why?: string }>;
}
