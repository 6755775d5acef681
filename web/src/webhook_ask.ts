// Whom the pages of webhooks ask: the node's desk asks its admin listener, the portal its own routes.

import { createContext, type VNode } from "preact";
import { useContext } from "preact/hooks";
import type { Endpoint } from "./webhook_types";

/// What operators have besides; a subscriber sees their own endpoints alone.
export interface OperatorSide {
  messageLink: (id: string) => string;
  deadLink: (id: string) => string;
  history: (of: Endpoint, onClose: () => void) => VNode;
}

export interface WebhookAsk {
  get: <T>(path: string) => Promise<T>;
  post: <T>(path: string, body?: unknown) => Promise<T>;
  link: (id?: string) => string; // The address of an endpoint, or of their list.
  mayChange: boolean;
  operator?: OperatorSide;
}

export const WebhookContext = createContext<WebhookAsk | null>(null);

export function useWebhooks(): WebhookAsk {
  const ask = useContext(WebhookContext);
  if (!ask) throw new Error("a page of webhooks stands outside of WebhookContext");
  return ask;
}
