// What the admin API answers about store-and-forward.

export interface ForwardCategory {
  category: string;
  tracked: boolean;
  waiting: number;
  parked: number;
  bytes: number;
  oldestWaitingSince?: string;
  phase?: "live" | "outage" | "settling" | "replaying"; // Of the target that is furthest behind.
  replayRate?: number; // Messages of the backlog a second that may go now.
  drainedPerSecond?: number; // As of the last minute.
  secondsLeft?: number; // At that speed.
}

export type HeldStatus = "waiting" | "parked";

export interface HeldWork {
  seq: number;
  id: string;
  category: string;
  target: string;
  status: HeldStatus;
  retryCount: number;
  maxRetries: number; // 0 for no limit.
  retryIntervalMs: number;
  bytes: number;
  createdAt: string;
  lastAttemptAt?: string;
  lastError?: string;
  originInstance?: string;
  executionId?: string;
  sourceScript?: string;
  parentExecutionId?: string;
}

export interface TrackedOperation {
  id: string;
  kind: string;
  target: string;
  status: string;
  retryCount: number;
  createdAt: string;
  updatedAt: string;
  lastError?: string;
  httpStatus?: number;
  endedAt?: string;
  sourceInstance?: string;
  sourceScript?: string;
  sourceNode?: string;
}

export interface TrackedAttempt {
  attempt: number;
  channel: string;
  outcome: string;
  retryCount: number;
  occurredAt: string;
  durationMs: number;
  httpStatus?: number;
  lastError?: string;
}

export interface KnownSite {
  site: string;
  service: string;
  firstSeen: string;
  calls: number;
  parked: number;
  notifications: number;
  lastTold?: string;
}

export interface SiteCall {
  seq: number;
  id: string;
  site: string;
  service: string;
  kind: string;
  target: string;
  status: string;
  retryCount: number;
  attempts: number;
  createdAt: string;
  updatedAt: string;
  lastError?: string;
  sourceInstance?: string;
}

export interface ParkedAtSite {
  id: string;
  category: string;
  target: string;
  retryCount: number;
  createdAt: string;
  lastError?: string;
  originInstance?: string;
}
