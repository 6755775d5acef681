// desk_pages.js BASE: how long each page of the desk takes until it shows what it is for.

const { chromium } = require("playwright-core");

const base = process.argv[2];
const pages = {
  overview: ["", ".light h1"],
  messages: ["messages", "tr[data-row]"],
  dead: ["dead", "tr[data-row]"],
  destinations: ["destinations", "main h1"],
  inbox: ["inbox", "main h1"],
};

async function main() {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const found = {};
  for (const [name, [path, shown]] of Object.entries(pages)) {
    // A context of its own has nothing in its cache.
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
    const begun = performance.now();
    await page.goto(`${base}/desk/${path}`, { waitUntil: "commit" });
    await page.locator(shown).first().waitFor();
    const content = performance.now() - begun;
    await page.locator("main .waiting, .chart.unread").first().waitFor({ state: "detached" });
    found[name] = { content_ms: content, ready_ms: performance.now() - begun };
    await page.context().close();
  }
  await browser.close();
  console.log(JSON.stringify(found));
}

main().catch((fault) => {
  console.error(fault);
  process.exitCode = 1;
});
