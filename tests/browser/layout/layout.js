// layout.js check | update | pictures FOLDER
//
// Shows the desk with fixed answers and a fixed clock, and compares where everything is, what it
// says and in which colours with layout.txt. `update` writes that file anew, after a change that is
// meant; `pictures` makes the screenshots of the docs.

const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");
const { chromium } = require("playwright-core");
const { answers, metrics, now, id } = require("./answers.js");

const root = path.join(__dirname, "../../..");
const kept = path.join(__dirname, "layout.txt");
const dist = path.join(root, "web/dist");

const looks = {
  light: { colorScheme: "light", viewport: { width: 1280, height: 800 } },
  dark: { colorScheme: "dark", viewport: { width: 1280, height: 800 } },
  phone: { colorScheme: "light", viewport: { width: 360, height: 740 } },
};
const pages = [
  "", "messages", "dead", `messages/${id(3)}`, "destinations", "inbox", `inbox/${id(203)}`, "queues", "queues/2", "forward",
  `forward/${id(501)}`, "webhooks", `webhooks/${id(201)}`, "workflows", "workflows/Approve%2Fo2", "workflows/Approve%2Fo4", "store",
  "standby", "audit", "keys", "nodes?orderKey=customer+7", "nodes/attic",
];

// The fonts of a machine are its own, so the test brings its choice along; Debian's Chromium has it.
const fonts = ':root { --sans: "DejaVu Sans" !important; --mono: "DejaVu Sans Mono" !important; }';

const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

function answer(request, response) {
  const { pathname, searchParams } = new URL(request.url, "http://desk");
  const [first] = searchParams.keys(); // Some have an answer of their own to a filter.
  const known = answers[`${pathname}?${first}`] ?? answers[pathname];
  const send = (status, type, body) => {
    response.writeHead(status, { "Content-Type": type });
    response.end(body);
  };
  if (pathname === "/metrics") return send(200, "text/plain", metrics);
  if (known) return send(200, "application/json", JSON.stringify(known));
  if (!pathname.startsWith("/desk")) return send(404, "application/json", '{"error":"not_found","message":"nothing is there"}');
  const file = path.join(dist, pathname.startsWith("/desk/assets/") ? pathname.slice("/desk/".length) : "index.html");
  const ending = path.extname(file);
  const body = fs.readFileSync(file, "utf8");
  send(200, types[ending] ?? "text/plain", ending === ".css" ? body + fonts : body);
}

/// One line for each element that can be seen: what it is, where, in which colours, what it says.
function describe() {
  const lines = [];
  const nameOf = (element) => {
    const names = [...element.classList].sort().map((each) => `.${each}`);
    return element.tagName.toLowerCase() + names.join("");
  };
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest("svg") && element.tagName.toLowerCase() !== "svg") continue;
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    if (box.width === 0 || box.height === 0 || style.visibility === "hidden") continue;
    const texts = [...element.childNodes].filter((each) => each.nodeType === Node.TEXT_NODE);
    const text = texts.map((each) => each.textContent).join("").replace(/\s+/g, " ").trim();
    const filled = style.backgroundColor !== "rgba(0, 0, 0, 0)";
    const control = element.matches("a, button, input, select, textarea, svg");
    if (!text && !filled && !control) continue;
    const short = (colour) => colour.replace(/^rgba?\((.*)\)$/, "$1").replaceAll(" ", "");
    const where = [box.x, box.y + scrollY, box.width, box.height].map(Math.round).join(" ");
    const colours = [style.color, filled ? style.backgroundColor : ""].map(short).join("/");
    lines.push(`${nameOf(element)} | ${where} | ${colours} | ${text.slice(0, 80)}`);
  }
  return lines;
}

async function newTab(browser) {
  const context = await browser.newContext({ reducedMotion: "reduce", locale: "en-GB", timezoneId: "UTC" });
  context.setDefaultTimeout(90000); // A machine that is busy is not a fault.
  const tab = await context.newPage();
  await tab.clock.setFixedTime(new Date(now));
  return tab;
}

async function open(tab, base, look, page) {
  const { colorScheme, viewport } = looks[look];
  await tab.emulateMedia({ colorScheme });
  await tab.setViewportSize(viewport);
  await tab.goto(`${base}/desk/${page}`);
  await tab.locator("main h1").first().waitFor();
  await tab.locator("nav a", { hasText: "Keys" }).waitFor();
  await tab.locator("nav .bubble").waitFor();
  // How far a narrow list of pages is scrolled depends on what came first, the link or its bubble.
  await tab.evaluate(() => document.querySelectorAll("nav, nav *").forEach((each) => (each.scrollLeft = 0)));
  await tab.waitForFunction(() => !document.querySelector("main .waiting"));
  // A rate needs two looks.
  if (page === "") await tab.waitForFunction(() => !document.querySelector(".figures").textContent.includes("–"));
  await tab.evaluate(() => document.fonts.ready);
}

/// Shows what is open as another look does, without reading it anew.
async function change(tab, { colorScheme, viewport }) {
  await tab.emulateMedia({ colorScheme });
  await tab.setViewportSize(viewport);
  await tab.waitForFunction((wanted) => document.documentElement.dataset.theme === wanted, colorScheme);
  // What follows the size of the page does so in the frames after it.
  await tab.evaluate(async () => {
    for (let i = 0; i < 3; ++i) await new Promise(requestAnimationFrame);
    document.querySelectorAll("nav, nav *").forEach((each) => (each.scrollLeft = 0));
  });
}

async function look(browser, base) {
  const all = [];
  const tab = await newTab(browser);
  for (const page of pages) {
    await open(tab, base, "light", page);
    for (const [name, options] of Object.entries(looks)) {
      await change(tab, options);
      all.push(`# ${name} /desk/${page}`, ...(await tab.evaluate(describe)));
    }
  }
  return all;
}

const near = 2; // Pixels; other versions of the browser round otherwise.

/// Whether two lines say the same, but for some pixels.
function isSame(a, b) {
  const [left, right] = [a.split(" | "), b.split(" | ")];
  if (left.length !== right.length || left.length < 4) return a === b;
  const numbers = (text) => text.split(" ").map(Number);
  const [one, two] = [numbers(left[1]), numbers(right[1])];
  return (
    left.every((part, i) => i === 1 || part === right[i]) &&
    one.every((number, i) => Math.abs(number - two[i]) <= near)
  );
}

function compare(seen) {
  const wanted = fs.readFileSync(kept, "utf8").trimEnd().split("\n");
  const faults = [];
  let view = "";
  for (let i = 0; i < Math.max(seen.length, wanted.length) && faults.length < 10; ++i) {
    if (wanted[i]?.startsWith("# ")) view = wanted[i];
    if (!isSame(seen[i] ?? "", wanted[i] ?? ""))
      faults.push(`${view}, line ${i + 1}\n  was  ${wanted[i] ?? "nothing"}\n  is   ${seen[i] ?? "nothing"}`);
  }
  if (faults.length === 0) return;
  console.error(`${faults.join("\n")}\nIf this is meant: node tests/browser/layout/layout.js update`);
  process.exitCode = 1;
}

const pictures = [
  ["desk-overview", "light", ""],
  ["desk-dead-letters", "dark", "dead"],
  ["desk-message", "light", `messages/${id(3)}`],
  ["desk-webhooks", "light", "webhooks"],
  ["desk-webhook", "dark", `webhooks/${id(201)}`],
  ["desk-forward", "light", "forward"],
  ["desk-workflow", "dark", "workflows/Approve%2Fo2"],
  ["desk-standby", "light", "standby"],
  ["desk-nodes", "light", "nodes?orderKey=customer+7"],
  ["desk-phone", "phone", ""],
  ["desk-phone-dead-letters", "phone", "dead"],
];

async function main() {
  const [, , what, folder] = process.argv;
  const server = http.createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const base = `http://127.0.0.1:${server.address().port}`;
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--font-render-hinting=none"] });
  try {
    if (what === "pictures") {
      const tab = await newTab(browser);
      for (const [file, name, page] of pictures) {
        await open(tab, base, name, page);
        await tab.screenshot({ path: path.join(folder, `${file}.png`) });
      }
    } else {
      const seen = await look(browser, base);
      if (what === "update") fs.writeFileSync(kept, `${seen.join("\n")}\n`);
      else compare(seen);
    }
  } finally {
    await browser.close();
    server.close();
  }
}

main().catch((fault) => {
  console.error(fault);
  process.exitCode = 1;
});
