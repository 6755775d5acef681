// What the admin API answers about webhooks.

export type EndpointHealth = "failing" | "disabled" | "paused" | "delivering" | "quiet";

/// Who is told of which events.
export interface Subscription {
  id: string;
  state: "active" | "paused" | "disabled";
  eventType: string;
  url: string;
  style: "standard" | "outbox" | "both";
  form: "envelope" | "raw" | "thin";
  maxRetries: number;
  timeoutSeconds: number;
  createdAt: string;
  updatedAt?: string;
  tenant?: string;
  reason?: string;
  description?: string;
  headers?: Record<string, string>;
  filter?: Record<string, unknown[]>;
  previousSecretUntil?: string;
  trouble?: string; // Why nothing can be sent to it.
}

/// A type of events in the catalogue.
export interface EventType {
  name: string;
  description?: string;
  schema?: unknown;
  example?: unknown;
}

export interface Endpoint extends Subscription {
  health: EndpointHealth;
  delivered: number; // Of the last few attempts.
  failed: number;
  dead: number; // Deliveries that were given up.
  lastAttemptAt?: string;
  lastHttpStatus?: number;
}

export interface EndpointPage {
  endpoints: Endpoint[];
  fitting: number;
  deadAtLeast: boolean;
  states: Partial<Record<EndpointHealth, number>>;
}

export interface EndpointDetail extends Endpoint {
  types: Array<{ eventType: string; attempts: number; lastAt: string }>;
}

export interface SentRequest {
  url?: string;
  headers: Record<string, string>;
  body: string;
}

export interface DeliveryAttempt {
  seq: number;
  deliveryId: string;
  messageId: string;
  attempt: number;
  state: "pending" | "success" | "failed" | "dead";
  at: string;
  tookMs: number;
  eventType?: string; // Until the event is deleted.
  httpStatus?: number;
  answer?: string;
  error?: string;
  request?: SentRequest;
  changedSince?: boolean; // The subscription was, so the request may have been another.
}

export interface TestResult {
  delivered: boolean;
  tookMs: number;
  request: SentRequest;
  httpStatus?: number;
  answer?: string;
  error?: string;
}
