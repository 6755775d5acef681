// What the admin API answers about workflows.

export type WorkflowStatus =
  | "starting"
  | "running"
  | "paused"
  | "quarantined"
  | "completed"
  | "failed"
  | "cancelled";

export interface Workflow {
  seq: number;
  workflow: string;
  id: string;
  instance: string;
  version: number;
  status: WorkflowStatus;
  startedAt: string;
  endedAt?: string;
  reason?: string;
}

export interface WorkflowDetail extends Workflow {
  steps: number;
  waitsFor: string[];
  differs?: { step: number; recorded?: string; found?: string };
  // With the right to payloads.
  arguments?: unknown;
  state?: unknown;
  result?: unknown;
}

export interface WorkflowStep {
  seq: number; // The step's number again, as lists know their rows by it.
  step: number;
  at: string;
  cause: string;
  command?: number;
  commands: string[];
  dropped: number[];
  status: WorkflowStatus;
  payload?: unknown;
  state?: unknown; // If the step changed it.
  result?: unknown;
}

export interface WorkflowCount {
  workflow: string;
  version: number;
  status: WorkflowStatus;
  count: number;
}
