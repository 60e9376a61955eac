// Opens the pages that a test wrote and looks at them as a reader would.
//
// node run.mjs BROWSER FOLDER: FOLDER holds the pages and `cases.json`:
// { "pages": [{ "file", "messages", "tokens", "dropped" }], "chat", "policy", "replay", "hostile", "big" }.
// Every failure is printed; the exit status is 1 if there was one.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const [executablePath, folder] = process.argv.slice(2);
const cases = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8"));
const address = (file) => pathToFileURL(resolve(folder, file)).href;
const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const failures = [];
let passed = 0;

async function check(name, test, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const noise = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && noise.push(message.text()));
  page.on("pageerror", (error) => noise.push(String(error)));
  page.on("dialog", (dialog) => { noise.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => request.url().split("#")[0] === page.opening || noise.push(`request: ${request.url()}`));
  const open = (file) => {
    const [path, hash] = file.split("#");
    page.opening = address(path);
    return page.goto(hash ? `${page.opening}#${hash}` : page.opening);
  };
  try {
    await test(page, open);
    assert.deepEqual(noise, [], "errors or requests");
    passed += 1;
  } catch (error) {
    failures.push(`${name}: ${error.message}`);
  }
  await context.close();
}

const fact = (page, name) => page.locator(`[data-fact=${name}]`).first().textContent();
const number = (text) => Number(text.replaceAll(",", ""));
const here = (page) => page.evaluate(() => document.querySelector("article.here")?.id ?? "");

await check("every page opens, asks for nothing and shows what is counted", async (page, open) => {
  for (const { file, messages, tokens } of cases.pages) {
    await open(file);
    assert.equal(number(await fact(page, "messages")), messages, `${file}: messages`);
    assert.equal(number(await fact(page, "tokens")), tokens, `${file}: tokens`);
    assert.equal(await page.locator("[data-message]").count(), messages, `${file}: messages that are drawn`);
    const roles = await page.locator("[data-card=writers] li").evaluateAll((rows) => rows.map((row) => Number(row.dataset.tokens)));
    assert.equal(roles.reduce((sum, tokens) => sum + tokens, 0), tokens, `${file}: the sum of the writers`);
    const twice = await page.evaluate(() => {
      const ids = Array.from(document.querySelectorAll("[id]"), (element) => element.id);
      return ids.filter((id, at) => ids.indexOf(id) !== at);
    });
    assert.deepEqual(twice, [], `${file}: ids that occur twice`);
    const dead = await page.evaluate(() =>
      Array.from(document.querySelectorAll("a[href^='#']"), (link) => link.getAttribute("href").slice(1)).filter((id) => !document.getElementById(id)));
    assert.deepEqual(dead, [], `${file}: links that lead nowhere`);
  }
});

await check("a click on the strip jumps to the message", async (page, open) => {
  await open(cases.chat);
  const last = page.locator(".strip a").last();
  const target = (await last.getAttribute("href")).slice(1);
  await last.click();
  await page.waitForFunction((id) => {
    const box = document.getElementById(id).getBoundingClientRect();
    return box.top >= 0 && box.top < innerHeight;
  }, target);
  assert.equal(await here(page), target);
});

await check("keys move, search, fold and help", async (page, open) => {
  await open(cases.chat);
  await page.keyboard.press("j");
  assert.equal(await here(page), "m0");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  assert.equal(await here(page), "m1");
  await page.keyboard.press("/");
  await page.keyboard.type(cases.words);
  await page.waitForFunction(() => /messages?$/.test(document.getElementById("matches").textContent));
  await page.keyboard.press("Enter");
  assert.match(await page.locator("#matches").textContent(), /^1 of \d+(, 1 of \d+ here)?$/);
  const found = await here(page);
  assert.ok((await page.locator(`#${found}`).textContent()).includes(cases.words));
  const visible = await page.evaluate((words) => {
    const walker = document.createTreeWalker(document.querySelector("article.here"), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) if (walker.currentNode.data.includes(words)) return walker.currentNode.parentElement.checkVisibility();
    return false;
  }, cases.words);
  assert.ok(visible, "a match inside a fold is unfolded");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  assert.ok(await page.locator("#help").evaluate((dialog) => dialog.open));
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator("#help").evaluate((dialog) => dialog.open)));
});

await check("Enter right after the last letter jumps, and the jump stays", async (page, open) => {
  await open(cases.chat);
  const shown = await page.evaluate(async (words) => {
    const query = document.getElementById("query");
    query.value = words;
    query.dispatchEvent(new Event("input", { bubbles: true }));
    query.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    const first = document.getElementById("matches").textContent;
    await new Promise((done) => setTimeout(done, 250));
    return [first, document.getElementById("matches").textContent];
  }, cases.words);
  assert.match(shown[0], /^1 of \d+(, 1 of \d+ here)?$/);
  assert.equal(shown[1], shown[0]);
});

await check("n and N step through matches and wrap around", async (page, open) => {
  await open(cases.chat);
  await page.locator("#query").fill("e");
  await page.waitForFunction(() => document.getElementById("matches").textContent !== "");
  const many = number((await page.locator("#matches").textContent()).split(" ")[0]);
  assert.ok(many > 2);
  await page.locator("#query").blur();
  const at = async () => number((await page.locator("#matches").textContent()).split(" ")[0]);
  const current = () => page.evaluate(() => {
    const [range] = CSS.highlights.get("match");
    const box = range.getBoundingClientRect();
    return [range.toString().toLowerCase(), box.top >= 0 && box.bottom <= innerHeight && box.height > 0];
  });
  // Every place of the first message, and then the next message.
  await page.keyboard.press("n");
  const inside = Number((await page.locator("#matches").textContent()).match(/of (\d+) here$/)?.[1] ?? 1);
  for (let steps = 0; steps < inside; steps += 1) {
    assert.equal(await at(), 1);
    await page.waitForTimeout(300);
    assert.deepEqual(await current(), ["e", true]);
    await page.keyboard.press("n");
  }
  assert.equal(await at(), 2);
  await page.keyboard.press("N");
  assert.equal(await at(), 1);
  for (let steps = 0; steps < inside; steps += 1) await page.keyboard.press("N");
  assert.equal(await at(), many);
});

await check("calls fold, and a link to a result unfolds its call", async (page, open) => {
  await open(cases.chat);
  const call = page.locator("details.call").first();
  assert.ok(!(await call.evaluate((box) => box.open)));
  await call.locator("summary").first().click();
  assert.ok(await call.locator(".result").isVisible());
  const result = await call.locator(".result").getAttribute("id");
  await page.locator("#fold").click();
  await page.locator("#fold").click();
  await page.evaluate((id) => { location.hash = id; }, result);
  await page.waitForFunction(() => document.querySelector("article.here"));
  assert.equal(await here(page), await call.evaluate((box) => box.closest("article").id));
  assert.ok(await call.locator(".result").isVisible(), "a link to a result unfolds its call");
  await page.locator("#fold").click();
  assert.equal(await page.locator("article details:not([open], .raw)").count(), 0);
});

await check("filters hide the other messages", async (page, open) => {
  await open(cases.chat);
  await page.locator("#by").selectOption("person");
  const writers = await page.locator("article:visible").evaluateAll((all) => all.map((article) => article.dataset.by));
  assert.ok(writers.length > 0 && writers.every((writer) => writer === "person"), writers.join());
  await page.locator("#by").selectOption("");
  await page.locator("#prompts").click();
  assert.equal(await page.locator("article:visible").count(), await page.locator(".prompts li").count());
  // A heading is left where a message is, and all of them come back.
  const headings = () => page.locator("h2.turn:visible").count();
  const before = await page.locator("h2.turn").count();
  await page.locator("#by").selectOption("tool");
  const alone = await page.evaluate(() => {
    const rows = Array.from(document.querySelectorAll(".chat :is(h2.turn, .gap, article)")).filter((row) => row.checkVisibility());
    return rows.filter((row, nth) => row.localName === "h2" && (rows[nth + 1] ?? row).localName === "h2").length;
  });
  assert.equal(alone, 0, "headings without a message");
  await page.locator("#by").selectOption("");
  await page.locator("#prompts").click();
  assert.equal(await headings(), before);
  await page.locator("#tool").selectOption({ index: 1 });
  const tools = await page.locator("article:visible").evaluateAll((all) => all.map((article) => article.dataset.tools));
  assert.ok(tools.length > 0 && tools.every(Boolean), tools.join());
});

await check("a policy marks what it drops and changes, with reasons", async (page, open) => {
  await open(cases.policy.file);
  assert.equal(number(await fact(page, "after")), cases.policy.tokens);
  const dropped = page.locator("[data-message][data-state=dropped]");
  assert.equal(await dropped.count(), cases.policy.dropped);
  for (const reasons of await dropped.evaluateAll((all) => all.map((article) => article.querySelector(".reasons")?.textContent ?? ""))) {
    assert.match(reasons, /dropped/);
  }
  await page.locator("#state").selectOption("dropped");
  assert.equal(await page.locator("[data-message][data-state=dropped]:visible").count(), cases.policy.dropped);
  assert.ok((await page.locator(".strip rect.dropped").count()) > 0);
});

await check("two transcripts are aligned, and each difference leads to its message", async (page, open) => {
  await open(cases.two.file);
  assert.equal(number(await fact(page, "other")), cases.two.tokens);
  assert.match(await page.locator(".versus .states").textContent(), new RegExp(` ${cases.two.dropped} only in the first`));
  assert.equal(await page.locator(".versus svg path:is(.one, .other)").count(), 2);
  const links = page.locator(".side.dropped a");
  assert.equal(await links.count(), cases.two.dropped);
  const target = (await links.last().getAttribute("href")).slice(1);
  await links.last().click();
  await page.waitForFunction((id) => {
    const box = document.getElementById(id)?.getBoundingClientRect();
    return box && box.top >= 0 && box.top < innerHeight;
  }, target);
  const marked = await page.locator(`#${target}`).evaluate((one) =>
    [...one.children].map((child) => getComputedStyle(child, "::after").content).some((words) => words.includes("only here")));
  assert.ok(marked, "what only one of them has is marked in its conversation");
});

await check("a replay draws a curve and a row for every policy", async (page, open) => {
  await open(cases.replay);
  const sessions = page.locator("section.session");
  assert.equal(await sessions.count(), 2);
  for (const session of await sessions.all()) {
    const rows = await session.locator("tbody tr").count();
    assert.ok(rows > 4);
    assert.equal(await session.locator("path[class^=c]").count(), rows);
    assert.equal(await session.locator(".legend .key:not(.boundary, .provided)").count(), rows);
    const plot = await session.locator(".plot svg").boundingBox();
    assert.ok(plot.width > 500 && plot.height > 100);
  }
  assert.ok((await page.locator(".notes li").count()) >= 2);
  const points = page.locator(".points .dot");
  // Policies at nearly the same place share a point, which has the numbers of all of them.
  const numbers = (await points.allTextContents()).flatMap((text) => text.trim().split(/\s+/));
  assert.equal(numbers.length, await page.locator(".policies").first().locator("tbody tr").count());
  const plot = await page.locator(".points").boundingBox();
  for (const point of await points.all()) {
    const box = await point.boundingBox();
    assert.ok(box.x >= plot.x - 12 && box.x + box.width <= plot.x + plot.width + 16, "a point is in the picture");
  }
});

await check("an index is sorted and searched", async (page, open) => {
  await open(cases.index);
  const prompts = () => page.locator(".list tbody tr:visible td:nth-child(1) a").allTextContents();
  const tokens = async () => (await page.locator(".list tbody tr:visible td:nth-child(6)").allTextContents()).map(number);
  await page.locator(".list th button", { hasText: "Tokens" }).click();
  const falling = await tokens();
  assert.ok(falling.length > 2 && falling.every((count, nth) => nth === 0 || falling[nth - 1] >= count), falling.join());
  await page.locator(".list th button", { hasText: "Tokens" }).focus();
  await page.keyboard.press("Enter");
  assert.deepEqual(await tokens(), falling.toReversed());
  await page.locator("#query").fill((await prompts())[0]);
  await page.waitForFunction(() => document.getElementById("matches").textContent !== "");
  assert.ok((await prompts()).length < falling.length);
  await page.locator("#query").fill("");
});

await check("the keyboard reaches everything", async (page, open) => {
  await open(cases.chat);
  const wanted = await page.evaluate(() => {
    const all = document.querySelectorAll("a[href]:not(.strip a + a), button, summary, select, input");
    return Array.from(all).filter((one) => one.checkVisibility() && !one.closest("dialog")).length;
  });
  const reached = new Set();
  for (let steps = 0; steps < wanted + 20; steps += 1) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => {
      const all = Array.from(document.querySelectorAll("a[href], button, summary, select, input"));
      return all.indexOf(document.activeElement);
    }));
  }
  reached.delete(-1);
  assert.ok(reached.size >= wanted, `${reached.size} of ${wanted}`);
});

await check("the strip is one stop of the Tab key, and arrows move along it", async (page, open) => {
  await open(cases.chat);
  const last = page.locator(".strip a").last();
  const focused = () => page.evaluate(() => document.activeElement.closest(".strip a")?.getAttribute("href") ?? "");
  const all = await page.locator(".strip a").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  for (let steps = 0; steps < 200 && !(await focused()); steps += 1) await page.keyboard.press("Tab");
  assert.equal(await focused(), all[0]);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await focused(), all[0], "the first is the first");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await focused(), all[1]);
  const stroke = (link) => link.locator("rect").first().evaluate((rect) => getComputedStyle(rect).strokeWidth);
  assert.notEqual(await stroke(page.locator(".strip a").nth(1)), await stroke(last), "the focus is seen");
  await page.keyboard.press("End");
  assert.equal(await focused(), all.at(-1));
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("article.here"));
  assert.equal(`#${await here(page)}`, all.at(-1));
  // Tab goes on in the message, and so it does after j and k.
  const inside = () => page.evaluate(() => Boolean(document.activeElement.closest("article.here")));
  assert.ok(await inside());
  await page.keyboard.press("k");
  assert.ok(await inside());
  await page.keyboard.press("Tab");
  assert.ok(await inside());
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Home");
  assert.equal(await page.locator(".strip a[tabindex='0']").count(), 1);
});

await check("every control is worked by keys", async (page, open) => {
  await open(cases.chat);
  const press = async (id, key) => { await page.locator(id).focus(); await page.keyboard.press(key); };
  await press("#prompts", "Enter");
  assert.equal(await page.locator("article:visible").count(), await page.locator(".prompts li").count());
  await press("#prompts", "Space");
  await press("#fold", "Enter");
  assert.equal(await page.locator("article details:not([open], .raw)").count(), 0);
  await press("#fold", "Enter");
  const call = page.locator("details.call").first();
  await call.locator("summary").first().focus();
  await page.keyboard.press("Enter");
  assert.ok(await call.locator(".result").isVisible(), "a call is unfolded");
  await press(".numbers > summary", "Enter");
  assert.ok(await page.locator(".numbers svg").first().isVisible(), "the numbers are unfolded");
  await press(".prompts li:first-child a", "Enter");
  await page.waitForFunction(() => document.querySelector("article.here"));
  await press("#by", "ArrowDown");
  assert.notEqual(await page.locator("#by").inputValue(), "");
  await press("#keys", "Enter");
  assert.ok(await page.locator("#help").evaluate((dialog) => dialog.open), "the help is open");
  await page.keyboard.press("Enter");
  assert.ok(!(await page.locator("#help").evaluate((dialog) => dialog.open)), "the help is closed");
  await open(cases.hostile.file);
  await press("#source", "Enter");
  assert.ok((await page.locator(".raw[open]").count()) > 0, "the source is shown");
});

await check("paper shows everything, in light colors, and the page is afterwards as it was", async (page, open) => {
  for (const file of [cases.chat, cases.big.file]) {
    await open(file);
    const folded = () => page.locator("article details:not([open], .raw)").count();
    const early = await folded();
    const isLong = (await page.locator(".later").count()) > 0;
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    assert.equal(await folded(), 0);
    assert.equal(await page.locator(".later").count(), 0);
    assert.ok(!(await page.locator("#tools").isVisible()));
    assert.equal(await page.locator(".more > summary:visible").count(), 0);
    const paper = await page.evaluate(() => [document.body, document.querySelector(".text, .md")].map((one) => getComputedStyle(one)).map((style) => [style.backgroundColor, style.color]));
    assert.equal(paper[0][0], "rgb(255, 255, 255)");
    const sums = paper.map(([, color]) => color.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0));
    assert.ok(sums.every((sum) => sum < 300), `dark text: ${paper}`);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    assert.ok(isLong ? (await folded()) >= early : (await folded()) === early);
  }
});

await check("hostile text runs nothing and is shown", async (page, open) => {
  await page.addInitScript(() => { window.sentinel = "untouched"; });
  await open(cases.two.hostile);
  assert.equal(await page.locator("main :is(script, img, iframe, b.evil, base, form)").count(), 0);
  assert.equal(await page.evaluate(() => window.sentinel), "untouched");
  await open(cases.hostile.file);
  await page.locator("#fold").click();
  for (const link of await page.locator("article a").all()) await link.evaluate((element) => element.href.startsWith("file:") || /^https?:/.test(element.href) || window.fail());
  await page.waitForTimeout(100);
  assert.equal(await page.evaluate(() => window.sentinel), "untouched");
  const text = await page.evaluate(() => document.querySelector("main").textContent);
  for (const words of cases.hostile.shown) assert.ok(text.includes(words), `not on the page: ${words}`);
  assert.equal(await page.locator("main :is(script, img, iframe, style, b.evil, base, form)").count(), 0);
  assert.doesNotMatch(text, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundImage), "none");
});

await check("everything can be read without script", async (page, open) => {
  await open(cases.chat);
  assert.ok(!(await page.locator("#tools").isVisible()));
  const text = await page.locator("main").textContent();
  for (const words of cases.all) assert.ok(text.includes(words), `not on the page: ${words}`);
  await page.locator("details.call > summary").first().click();
  assert.ok(await page.locator("details.call .result").first().isVisible());
}, { javaScriptEnabled: false });

for (const colorScheme of ["light", "dark"]) {
  for (const width of [1280, 360]) {
    await check(`axe finds nothing serious, ${colorScheme}, ${width} px`, async (page, open) => {
      for (const file of [cases.chat, cases.policy.file, cases.hostile.file, cases.list, cases.index, cases.two.file, cases.replay]) {
        await open(file);
        await page.evaluate(() => document.querySelectorAll("details").forEach((box) => { box.open = true; }));
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => globalThis.axe.run());
        const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
        const words = serious.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 120)} ${node.failureSummary}`).join(" | ")}`);
        assert.deepEqual(words, [], file);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${file}: ${wide} px too wide`);
      }
    }, { colorScheme, viewport: { width, height: 800 } });
  }
}

await check("a long session is usable soon", async (page, open) => {
  const begun = performance.now();
  await open(cases.big.file);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  const seconds = (performance.now() - begun) / 1000;
  console.log(`the long session, ${cases.big.bytes} bytes, is usable after ${seconds.toFixed(2)} s`);
  assert.ok(seconds < cases.big.seconds, `${seconds.toFixed(2)} s`);
});

await check("later messages of a long session are built when they are needed", async (page, open) => {
  const { file, messages, words } = cases.big;
  await open(file);
  const articles = page.locator("article");
  const begun = await articles.count();
  assert.ok(begun < messages / 2, `${begun} of ${messages}`);
  await page.locator(".strip a").last().evaluate((link) => link.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })));
  await page.waitForFunction(() => document.querySelector("article.here"));
  const last = await page.locator(".strip a").last().getAttribute("href");
  assert.equal(`#${await here(page)}`, last);
  assert.ok(await page.locator("article.here").isVisible());
  assert.ok((await articles.count()) < messages);
  const from = Number((await here(page)).slice(1));
  for (let steps = 0; steps < 130; steps += 1) await page.keyboard.press("k");
  // Two of three messages are articles: a result is shown with its call.
  assert.equal(Number((await here(page)).slice(1)), from - 130 / 2 * 3);
  await page.locator("#query").fill(words);
  await page.waitForFunction(() => document.getElementById("matches").textContent !== "");
  await page.keyboard.press("Enter");
  assert.equal(await here(page), `m${messages - 2}`);
  assert.ok((await articles.count()) < messages / 3 * 2);
  await page.keyboard.press("Escape");
  const built = () => page.locator(".later").count();
  const before = await built();
  await page.locator("#prompts").click();
  assert.ok((await built()) >= before - 4, "only prompts in sight are built");
  await page.locator("#prompts").click();
  await page.locator("#by").selectOption("person");
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await page.locator("article:not([hidden])").count(), messages / 3);
  const all = page.locator("[data-message]");
  assert.equal(await all.count(), messages);
  const ids = await all.evaluateAll((all) => all.map((article) => Number(article.id.slice(1))));
  assert.ok(ids.every((id, nth) => id === nth), "in order");
});

await check("a link to a later message of a long session leads there", async (page, open) => {
  await open(`${cases.big.file}#m${cases.big.messages - 1}`);
  assert.equal(await here(page), `m${cases.big.messages - 2}`);
  assert.ok(await page.locator(`#m${cases.big.messages - 1}`).isVisible());
});

await check("a long session can be read without script", async (page, open) => {
  await open(cases.big.file);
  assert.equal(await page.locator("[data-message]").count(), cases.big.messages);
  assert.ok((await page.locator("article").last().textContent()).includes(cases.big.words));
}, { javaScriptEnabled: false });

await browser.close();
console.log(`${passed} browser tests passed, ${failures.length} failed`);
for (const failure of failures) console.log(`FAILED ${failure}`);
process.exit(failures.length ? 1 : 0);
