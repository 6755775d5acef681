// Whom the pages of webhooks ask: the node's desk asks its admin listener, the portal its own.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { get, post } from "./api";

export interface WebhookAsk {
  get: <T>(path: string) => Promise<T>;
  post: <T>(path: string, body?: unknown) => Promise<T>;
  home: string; // The address of the list.
  isPortal: boolean; // A subscriber looks, who sees their own endpoints alone.
  mayChange: boolean;
}

const base = "/_rf/webhooks";

export const WebhookContext = createContext<WebhookAsk>({
  get: (path) => get(base + path),
  post: (path, body) => post(base + path, body),
  home: "/desk/webhooks",
  isPortal: false,
  mayChange: true, // The node refuses those who may not, and says so.
});

export function useWebhooks(): WebhookAsk {
  return useContext(WebhookContext);
}
