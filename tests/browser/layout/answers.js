// What a node answers, fixed: the desk looks the same on every machine and every day.

const now = "2026-03-01T12:00:00.000Z";
const ago = (seconds) => new Date(Date.parse(now) - seconds * 1000).toISOString();
const id = (number) => `0199a0b1-0000-7000-8000-${String(number).padStart(12, "0")}`;

const markup = "<b>bold</b> & \"quoted\"";
const message = (number, more) => ({
  messageId: id(number),
  seq: number,
  messageType: "Signal",
  destination: "stock",
  endpoint: "Reserve",
  status: "Sent",
  retryCount: 0,
  maxRetries: 5,
  createdAt: ago(60 * number),
  expiresAt: ago(-86400),
  ...more,
});
const dead = (number, more) =>
  message(number, {
    status: "Dead",
    state: `state${number}`,
    retryCount: 6,
    closedAt: ago(30 * number),
    lastAttemptAt: ago(30 * number),
    lastError: "422 from stock: CHECK constraint failed: count > 0",
    ...more,
  });
const blocker = { messageId: id(3), status: "Dead", since: ago(90) };

const letters = [
  dead(1),
  dead(2, { lastError: `400 from stock: ${markup}` }),
  dead(3, { orderKey: "customer 7", endpoint: "Ship", lastError: "no such table: shipped" }),
  dead(4, { destination: "billing", endpoint: "Charge", lastError: "card refused" }),
];

const endpoint = (number, more) => ({
  id: id(200 + number),
  state: "active",
  eventType: "order.*",
  url: `https://shop-${number}.example/hook`,
  style: "standard",
  form: "envelope",
  maxRetries: 5,
  timeoutSeconds: 30,
  createdAt: ago(864000),
  health: "delivering",
  delivered: 20,
  failed: 0,
  dead: 0,
  lastAttemptAt: ago(30),
  lastHttpStatus: 204,
  ...more,
});
const failing = endpoint(1, {
  health: "failing", tenant: "acme", delivered: 3, failed: 17, dead: 12, lastHttpStatus: 500, description: markup,
  updatedAt: ago(86400), previousSecretUntil: ago(-3600), filter: { "/data/country": ["DE", "AT"] }, headers: { "X-Shop": "7" },
});
const endpoints = [
  failing,
  endpoint(2, { health: "disabled", state: "disabled", tenant: "globex", reason: "its endpoint answered: HTTP 410", dead: 1, lastHttpStatus: 410 }),
  endpoint(3, { health: "paused", state: "paused", eventType: "*", reason: "paused by a person" }),
  endpoint(4),
  endpoint(5, { health: "quiet", eventType: "invoice.sent", delivered: 0, lastAttemptAt: undefined, lastHttpStatus: undefined }),
];
const attempt = (seq, more) => ({
  seq, deliveryId: id(300 + seq), messageId: id(400 + seq), attempt: 1, state: "success", at: ago(600 - seq * 60), tookMs: 41,
  eventType: "order.paid", httpStatus: 204, ...more,
});

const queue = (endpoint, more) => ({
  endpoint, waiting: 0, taken: 0, workers: 0, givenUp: 0, parked: 0, attemptsMax: 0, ...more,
});
const job = (seq, more) => ({
  seq,
  state: "waiting",
  endpoint: "Pack",
  messageId: id(100 + seq),
  sourceServiceId: "shop",
  messageType: "Signal",
  receivedAt: ago(600 - seq),
  attempts: 0,
  contentType: "application/json",
  payloadSize: 42,
  ...more,
});
const jobs = [
  job(1, { state: "given-up", attempts: 20, givenUpAt: ago(120), error: "no such sku", orderKey: "customer 7" }),
  job(2, { orderKey: "customer 7", waitsBehind: { seq: 1, messageId: id(101), givenUpAt: ago(120) } }),
  job(3, { state: "taken", attempts: 1, takenBy: "packer-2", freeAt: ago(-40) }),
  job(4),
];

const held = (number, more) => ({
  seq: number, id: id(500 + number), category: "ExternalSystem", target: "erp", status: "waiting", retryCount: 2, maxRetries: 20,
  retryIntervalMs: 60000, bytes: 2048, createdAt: ago(3600 - number), lastAttemptAt: ago(40), lastError: "503 from erp", ...more,
});
const parkedWork = held(1, {
  status: "parked", retryCount: 20, lastError: `HTTP 404: no such line ${markup}`, originInstance: "press 3",
  sourceScript: "after-shift.lua", executionId: id(601),
});

const workflow = (number, more) => ({
  seq: number, workflow: "Approve", id: `o${number}`, instance: id(700 + number), version: 2, status: "running",
  startedAt: ago(7200 + number), ...more,
});
const quarantined = workflow(4, { status: "quarantined", reason: "step 2: recorded wait for Decided, the code now sleeps" });
const running = workflow(2);
const step = (number, more) => ({
  step: number, at: ago(7200 - number * 60), cause: "answered", commands: [], dropped: [], status: "running", ...more,
});

const watched = (name, more) => ({
  name, url: `https://${name}.example:7401`, light: "green", reasons: [], since: ago(86400 * 3), askedAt: ago(20), seenAt: ago(20),
  latencyMs: 3, service: name, version: "9.8.7", ...more,
});
const attic = watched("attic", {
  light: "red", reasons: ["it does not answer: Connection refused"], since: ago(5400), seenAt: ago(5400), latencyMs: undefined,
});
const spans = [
  { seq: 3, from: ago(5400), to: ago(20), light: "red", reasons: attic.reasons },
  { seq: 2, from: ago(86400 * 2), to: ago(5400), light: "green", reasons: [] },
  { seq: 1, from: ago(86400 * 5), to: ago(86400 * 2), light: "yellow", reasons: ["the oldest message for 'erp' has waited for 3 min"] },
];

// A wave, so that the charts have something to show.
const wave = (height) => Array.from({ length: 90 }, (_, i) => Math.round(height * (1 + Math.sin(i / 9)) * 100) / 100);
const history = {
  range: "15m",
  from: ago(900),
  stepSeconds: 10,
  points: 90,
  nodes: ["orders"],
  endpoints: ["Pack"],
  outbox: {
    arrived: wave(40), sent: wave(38), failed: wave(2), givenUp: wave(0.1),
    p50Ms: wave(3), p99Ms: wave(20), waiting: wave(150), oldestSeconds: wave(12),
  },
  inbox: { handled: wave(30), failed: wave(1), duplicates: wave(0.5), p50Ms: wave(2), p99Ms: wave(9) },
};

const answers = {
  "/_rf": {
    service: "orders",
    version: "9.8.7",
    routes: [
      "GET /_rf/queue", "GET /_rf/forward", "GET /_rf/webhooks/endpoints", "GET /_rf/workflows", "GET /_rf/store", "GET /_rf/audit",
      "GET /_rf/keys", "GET /_rf/nodes/{node}", "GET /_rf/search", "GET /_rf/inbox/failed", "GET /_rf/standby", "GET /_rf/standby/archive",
    ],
  },
  "/_rf/health": {
    status: "red",
    working: true,
    service: "orders",
    version: "9.8.7",
    durable: true,
    reasons: [
      "4 messages are dead",
      "2 messages wait behind one that was given up, such as order key 'customer 7' of 'stock' behind " + id(3),
      "3 messages are undeliverable: no route to 'crm'",
      "no answer from 'billing' since 11:54",
    ],
    undeliverable: { count: 3, destination: "crm", error: "no route" },
  },
  "/_rf/history": history,
  "/_rf/whoami": { name: "loopback", role: "viewer", rights: [], by: "loopback" },
  "/_rf/outbox/stats": {
    pending: 1312,
    failed: 4,
    expired: 1,
    resolved: 2,
    oldestAgeMs: 360000,
    undeliverable: { count: 3, destination: "crm", error: "no route" },
    blocked: {
      messages: 2,
      keys: [{ destination: "stock", orderKey: "customer 7", waiting: 2, behind: blocker }],
    },
    backlog: [
      { destination: "billing", pending: 1304, oldestAgeMs: 360000 },
      { destination: "crm", pending: 3, oldestAgeMs: 7200000, undeliverable: 3 },
      { destination: "stock", pending: 5, oldestAgeMs: 90000 },
    ],
    peers: [{ destination: "billing", reachable: false, since: ago(360) }],
  },
  "/_rf/outbox/lanes": {
    lanes: [
      { destination: "billing", state: "open", cause: "connection refused", since: ago(360), until: ago(-30), waiting: 1304, inFlight: 0, window: 8 },
      { destination: "crm", state: "no_route", waiting: 3 },
      { destination: "mail", state: "paused", pausedSince: ago(3600), reason: "until noon", waiting: 0 },
      { destination: "stock", state: "sending", waiting: 5, inFlight: 2, window: 8 },
    ],
  },
  "/_rf/inbox/stats": { size: 48211, processed: 48000, duplicates: 12, duplicateRate: 0.00025, failed: 3, refused: 1, conflicts: 0 },
  "/_rf/inbox/handlers": {
    handlers: [
      { endpoint: "Label", handled: 12, duplicates: 0, failed: 3, p50Ms: 4.2, p99Ms: 48,
        failing: { since: ago(600), last: ago(20), times: 3, source: "shop", why: "the printer is out of paper" } },
      { endpoint: "Pack", handled: 47988, duplicates: 12, failed: 0, p50Ms: 0.4, p99Ms: 1250 },
    ],
  },
  "/_rf/inbox": {
    messages: [
      { messageId: id(201), seq: 2, sourceServiceId: "shop", endpoint: "Pack", processedAt: ago(3), expiresAt: ago(-170000) },
      { messageId: id(202), seq: 1, sourceServiceId: "shop", endpoint: "Notify", claimedUntil: ago(-20), expiresAt: ago(-170000) },
    ],
    next: null,
  },
  "/_rf/inbox/failed": {
    failed: [
      { messageId: id(203), source: "shop", endpoint: "Label", first: ago(600), last: ago(20), times: 3, why: "the printer is out of paper" },
      { messageId: id(204), source: "web", endpoint: "Gift", first: ago(900), last: ago(900), times: 1, why: markup, error: "no_handler" },
    ],
  },
  [`/_rf/inbox/${id(203)}`]: {
    received: [],
    failed: [{ messageId: id(203), source: "shop", endpoint: "Label", first: ago(600), last: ago(20), times: 3, why: "the printer is out of paper" }],
    refused: [],
  },
  [`/_rf/links/${id(203)}`]: { taken: [], caused: [], more: false },
  "/_rf/outbox": {
    messages: [
      message(1),
      message(2, { status: "Pending", retryCount: 2, lastError: "503 from stock" }),
      message(3, { status: "Pending", parked: true, orderKey: "customer 7" }),
      ...letters,
    ],
    next: 1,
  },
  "/_rf/outbox?orderKey": {
    messages: [message(3, { status: "Pending", parked: true, orderKey: "customer 7" }), letters[2]],
    next: null,
  },
  "/_rf/dead": { messages: letters, next: null },
  "/_rf/dead/groups": {
    groups: [
      { cause: 1, count: 2, destination: "stock", endpoint: "Reserve", text: "CHECK constraint failed: count > <n>", firstAt: ago(900), lastAt: ago(30) },
      { cause: 2, count: 1, destination: "billing", endpoint: "Charge", text: markup, firstAt: ago(800), lastAt: ago(120) },
    ],
  },
  [`/_rf/dead/${id(3)}`]: {
    ...letters[2],
    contentType: "application/json",
    payloadBytes: 42,
    causeText: "no such table: shipped",
    correlationId: "order 4711",
    attempts: [
      { attempt: 1, at: ago(160), error: "no such table: shipped" },
      { attempt: 2, at: ago(120), error: "no such table: shipped" },
      { attempt: 3, at: ago(90), error: markup },
    ],
  },
  [`/_rf/links/${id(3)}`]: {
    cause: { messageId: id(201), taken: { sourceServiceId: "shop", endpoint: "Order", processedAt: ago(200) } },
    taken: [],
    caused: [{ messageId: id(9), destination: "mail", endpoint: "Receipt", status: "Sent", createdAt: ago(80) }],
    more: false,
  },
  "/_rf/queue": {
    queues: [
      queue("Pack", { waiting: 2, taken: 1, workers: 1, givenUp: 1, parked: 1, attemptsMax: 1, oldestWaitingSince: ago(598) }),
      queue("Ship"),
    ],
  },
  "/_rf/queue/jobs": { jobs, next: null },
  "/_rf/queue/jobs/2": jobs[1],
  "/_rf/standby": {
    role: "primary", standby: "10.0.0.2:7402", state: "following", mode: "async", whenLost: "wait", alone: false, epoch: 3,
    stream: "0123456789abcdef0123456789abcdef", position: 1234567, lagBytes: 8240, lagSeconds: 0.4,
    lostByPromotion: "8240 bytes of the log, 0.4 s", trouble: "",
  },
  "/_rf/standby/archive": {
    configured: true, folder: "/archive/posthorn", oldest: ago(604800), newest: ago(20), baseAt: ago(7200), copiedBytes: null,
    behindBytes: 16480, behindSeconds: 20, bytes: 734003200, segments: 10080, bases: 8, gaps: [{ from: ago(90000), to: ago(86400) }],
    lost: ["/archive/posthorn/orders-20260222T120000Z-0badcafe/log-000000000012"], trouble: "",
  },
  "/_rf/store": {
    databases: [
      {
        kind: "SQLite", place: "/var/lib/posthorn/orders.db", holds: "outbox and inbox", bytes: 52428800, logBytes: 4194304, freeBytes: 1048576,
        disk: { state: "enough", lowWaterBytes: 67108864, ballast: true, refused: 0, freeBytes: 21474836480 },
      },
    ],
    backups: {
      folder: "/backup/posthorn", everyMs: 3600000, keepMs: 604800000,
      databases: [{ made: 24, failed: 0, newest: ago(1200), bytes: 50331648, tookMs: 412 }],
    },
    retention: [{ what: "sent messages", keepMs: 604800000 }, { what: "dead letters", keepMs: null }],
    findings: [
      { check: "log size", level: "ok", what: "the log has 4 MiB" },
      { check: "permissions", level: "warn", what: "others may read the database", why: "it holds payloads", todo: "chmod o-r it" },
    ],
  },
  "/_rf/webhooks/types": { types: [], strict: false },
  "/_rf/webhooks/endpoints": {
    endpoints, fitting: 5, deadAtLeast: false, states: { failing: 1, disabled: 1, paused: 1, delivering: 1, quiet: 1 },
  },
  [`/_rf/webhooks/${failing.id}/health`]: {
    ...failing,
    types: [
      { eventType: "order.paid", attempts: 18, lastAt: ago(30) },
      { eventType: "order.shipped", attempts: 2, lastAt: ago(7200) },
    ],
  },
  [`/_rf/webhooks/${failing.id}/deliveries`]: {
    deliveries: [
      attempt(9, { state: "failed", attempt: 2, httpStatus: 500, error: "HTTP 500", answer: markup }),
      attempt(8, { state: "dead", attempt: 6, httpStatus: undefined, error: "address not allowed", tookMs: 2 }),
      attempt(7, { eventType: undefined }),
    ],
    next: 7,
  },
  "/_rf/forward": {
    categories: [
      { category: "ExternalSystem", tracked: true, waiting: 212, parked: 1, bytes: 434176, oldestWaitingSince: ago(3600),
        phase: "replaying", replayRate: 40, drainedPerSecond: 12, secondsLeft: 18 },
      { category: "Notification", tracked: false, waiting: 0, parked: 0, bytes: 0, phase: "live" },
    ],
  },
  "/_rf/forward/messages": { messages: [parkedWork, held(2), held(3, { target: "label printer of hall 4" })], next: 3 },
  [`/_rf/forward/messages/${parkedWork.id}`]: parkedWork,
  [`/_rf/forward/tracking/${parkedWork.id}`]: {
    id: parkedWork.id, kind: "ExternalSystem", target: "erp", status: "Parked", retryCount: 20, createdAt: ago(3600), updatedAt: ago(40),
    lastError: "HTTP 404", httpStatus: 404, sourceInstance: "press 3",
  },
  "/_rf/workflows/counts": {
    open: [
      { workflow: "Approve", version: 2, status: "running", count: 14 },
      { workflow: "Approve", version: 1, status: "paused", count: 1 },
      { workflow: "Approve", version: 1, status: "quarantined", count: 2 },
      { workflow: "Nightly", version: 1, status: "starting", count: 1 },
    ],
  },
  "/_rf/workflows": {
    workflows: [
      quarantined, workflow(3, { status: "failed", endedAt: ago(600), reason: markup }), running,
      workflow(1, { workflow: "Nightly", status: "completed", endedAt: ago(60) }),
    ],
    next: null,
  },
  "/_rf/workflows/Approve/o2": { ...running, steps: 3, waitsFor: ['signal Decided where orderId == "o2"', "the time in 2 d"] },
  "/_rf/workflows/Approve/o2/history": {
    steps: [
      step(1, { cause: "start", commands: ["call stock/v1/Reserve"], state: { now: "new", by: "" } }),
      step(2, { command: 1, commands: ["wait for Decided", "sleep"], state: { now: "waiting", by: "" } }),
      step(3, { cause: "elapsed", command: 3, commands: ["call mail/v1/Remind"], dropped: [] }),
    ],
    next: null,
  },
  "/_rf/workflows/Approve/o4": {
    ...quarantined, steps: 2, waitsFor: [], differs: { step: 2, recorded: "wait for Decided", found: "sleeps" },
  },
  "/_rf/workflows/Approve/o4/history": {
    steps: [
      step(1, { cause: "start", commands: ["call stock/v1/Reserve"], state: { now: "new", by: "" } }),
      step(2, { command: 1, commands: ["wait for Decided"], state: { now: "waiting", by: "" } }),
    ],
    next: null,
  },
  "/_rf/nodes": { nodes: [watched("stock"), attic, watched("billing", { light: "yellow", reasons: ["'bank' is paused"], since: ago(1200), latencyMs: 41 })] },
  "/_rf/nodes/stock": { node: watched("stock"), history: spans.slice(1) },
  "/_rf/nodes/billing": { node: watched("billing"), history: spans.slice(1) },
  "/_rf/nodes/attic": { node: attic, history: spans },
  "/_rf/search": {
    hits: [{ node: "stock", messageId: id(9), destination: "mail", endpoint: "Receipt", status: "Sent", createdAt: ago(80), orderKey: "customer 7" }],
    nodes: [{ node: "stock", answered: true, more: false }, { node: "attic", answered: false, more: false, why: "Connection refused" }],
  },
  "/_rf/audit": {
    entries: [
      { seq: 3, at: ago(60), who: "night-shift", what: "POST", target: "/_rf/outbox/lanes/billing/pause", outcome: "done" },
      { seq: 2, at: ago(120), who: "wall", what: "POST", target: "/_rf/dead/requeue", outcome: "403: this needs a key with the role operator" },
      { seq: 1, at: ago(86400), who: "10.0.0.9", what: "GET", target: "/_rf/outbox", outcome: "401: this key is not known here" },
    ],
    next: null,
  },
  "/_rf/keys": {
    admin: [
      { name: "night-shift", role: "operator", payloads: true, secrets: true, madeAt: ago(86400 * 40) },
      { name: "wall", role: "viewer", payloads: false, secrets: false },
    ],
    peers: [
      { peer: "stock", scheme: "v2", keys: [{ id: "0123456789abcdef", state: "signs" }, { id: "fedcba9876543210", state: "verifies", verifiesUntil: ago(-86400) }] },
    ],
  },
};

const metrics = `posthorn_outbox_sent_total 120000
posthorn_inbox_processed_total 48000
rf_inbox_process_duration_ms_bucket{le="1"} 30000
rf_inbox_process_duration_ms_bucket{le="50"} 47990
rf_inbox_process_duration_ms_bucket{le="+Inf"} 48000
`;

module.exports = { answers, metrics, now, id };
