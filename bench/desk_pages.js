// desk_pages.js BASE TURNS: how long each page of the desk takes until it shows what it is for.
//
// The page's own clock counts, from the navigation to the frame in which the content is drawn: a
// browser that is driven from outside is asked too seldom, up to half a second late.

const { chromium } = require("playwright-core");

const [base, turns] = [process.argv[2], Number(process.argv[3] ?? 5)];
const pages = {
  overview: ["", ".light h1"],
  messages: ["messages", "tr[data-row]"],
  dead: ["dead", "tr[data-row]"],
  destinations: ["destinations", "main h1"],
  inbox: ["inbox", "tr[data-row]"],
};

/// In the page: notes when the content is drawn, and when nothing is waited for any more.
function watch(shown) {
  const seen = {};
  const note = (name) => {
    if (name in seen) return;
    seen[name] = NaN;
    requestAnimationFrame(() => setTimeout(() => (seen[name] = performance.now())));
  };
  new MutationObserver(() => {
    if (!document.querySelector(shown)) return;
    note("content");
    if (!document.querySelector("main .waiting, .chart.unread")) note("ready");
  }).observe(document, { subtree: true, childList: true, attributes: true });
  window.seen = seen;
}

async function time(browser, path, shown) {
  // A context of its own has nothing in its cache.
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(watch, shown);
  await page.goto(`${base}/desk/${path}`, { waitUntil: "commit" });
  await page.waitForFunction(() => window.seen?.ready > 0);
  const { content, ready } = await page.evaluate(() => window.seen);
  const asks = await page.evaluate(
    (until) => performance.getEntriesByType("resource").filter((each) => each.startTime < until).length,
    content,
  );
  await context.close();
  return { content, ready, asks };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function main() {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const found = {};
  for (const [name, [path, shown]] of Object.entries(pages)) {
    const all = [];
    for (let i = 0; i < turns; ++i) all.push(await time(browser, path, shown));
    found[name] = {
      content_ms: median(all.map((each) => each.content)),
      content_max_ms: Math.max(...all.map((each) => each.content)),
      ready_ms: median(all.map((each) => each.ready)),
      asks: median(all.map((each) => each.asks)),
    };
  }
  await browser.close();
  console.log(JSON.stringify(found));
}

main().catch((fault) => {
  console.error(fault);
  process.exitCode = 1;
});
