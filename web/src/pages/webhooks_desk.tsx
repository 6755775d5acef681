// The pages of webhooks as operators have them.

import type { ComponentChildren } from "preact";
import { get, post, query } from "../api";
import { HistoryDialog } from "../history";
import type { DeskPage } from "../page";
import { messageLink } from "../route";
import { WebhookContext, type WebhookAsk } from "../webhook_ask";
import { WebhookPage } from "./webhook";
import { Webhooks } from "./webhooks";

const base = "/_rf/webhooks";
const home = "/desk/webhooks";

const ask: WebhookAsk = {
  get: (path) => get(base + path),
  post: (path, body) => post(base + path, body),
  link: (id) => (id ? `${home}/${id}` : home),
  mayChange: true, // The node refuses those who may not, and says so.
  operator: {
    messageLink,
    deadLink: (id) => `/desk/dead${query({ destination: `webhook:${id}` })}`,
    history: (of, onClose) => (
      <HistoryDialog of={{ destination: `webhook:${of.id}` }} title={`History of ${of.url}`} onClose={onClose} />
    ),
  },
};

function Asked({ children }: { children: ComponentChildren }) {
  return <WebhookContext.Provider value={ask}>{children}</WebhookContext.Provider>;
}

export const webhooks: DeskPage = {
  name: "webhooks",
  title: "Webhooks",
  needs: "GET /_rf/webhooks/endpoints",
  show: () => (
    <Asked>
      <Webhooks />
    </Asked>
  ),
  showOne: (id) => (
    <Asked>
      <WebhookPage id={id} />
    </Asked>
  ),
};
