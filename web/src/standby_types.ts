// What the admin API answers about the standby and the archive.

export interface StandbyReport {
  role: "none" | "primary" | "standby";
  standby?: string; // Where it listens.
  state?: "away" | "copying" | "following";
  mode?: "sync" | "async";
  whenLost?: "wait" | "alone";
  alone?: boolean;
  epoch?: number;
  stream?: string;
  position?: number;
  lagBytes?: number;
  lagSeconds?: number;
  lostByPromotion?: string;
  trouble?: string;
}

export interface ArchiveReport {
  configured: boolean;
  folder?: string;
  oldest?: string | null;
  newest?: string | null;
  baseAt?: string | null;
  copiedBytes?: number | null;
  behindBytes?: number;
  behindSeconds?: number;
  bytes?: number;
  segments?: number;
  bases?: number;
  gaps?: Array<{ from: string; to: string | null }>;
  lost?: string[];
  trouble?: string;
}
