// Opens the pages that a test wrote and looks at them as a reader would.
//
// node run.mjs BROWSER FOLDER [WORDS]: only the tests whose name contains WORDS. FOLDER holds the pages, and `cases.json`, which
// names them and says what they contain; `write_cases` in tests/it/browser.rs writes both.
// Every failure is printed; the exit status is 1 if there was one.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const [executablePath, folder, only = ""] = process.argv.slice(2);
const cases = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8"));
const address = (file) => pathToFileURL(resolve(folder, file)).href;
const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const failures = [];
let passed = 0;

async function check(name, test, options = {}) {
  if (!name.includes(only)) return;
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const noise = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && !page.mayMiss && noise.push(message.text()));
  page.on("pageerror", (error) => noise.push(String(error)));
  page.on("dialog", (dialog) => { noise.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => request.url().split("#")[0] === page.opening || page.mayLoad?.test(request.url()) || noise.push(`request: ${request.url()}`));
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
// The files that an index loads for a search.
const SEARCHED = /\/search-\d+\.js$/;
const number = (text) => Number(text.replaceAll(",", ""));
// The menu with the filters and settings.
const menu = (page) => page.evaluate(() => { document.getElementById("menu").open = true; });
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
  await menu(page);
  await page.locator("#fold").click();
  await page.locator("#fold").click();
  await page.evaluate((id) => { location.hash = id; }, result);
  await page.waitForFunction(() => document.querySelector("article.here"));
  assert.equal(await here(page), await call.evaluate((box) => box.closest("article").id));
  assert.ok(await call.locator(".result").isVisible(), "a link to a result unfolds its call");
  await menu(page);
  await page.locator("#fold").click();
  assert.equal(await page.locator("article details:not([open], .raw)").count(), 0);
});

await check("filters hide the other messages", async (page, open) => {
  await open(cases.chat);
  await menu(page);
  await page.locator("#by").selectOption("person");
  const writers = await page.locator("article:visible").evaluateAll((all) => all.map((article) => article.dataset.by));
  assert.ok(writers.length > 0 && writers.every((writer) => writer === "person"), writers.join());
  await page.locator("#by").selectOption("");
  await page.locator("#prompts").click();
  await menu(page);
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
  await menu(page);
  await page.locator("#tool").selectOption({ index: 1 });
  const tools = await page.locator("article:visible").evaluateAll((all) => all.map((article) => article.dataset.tools));
  assert.ok(tools.length > 0 && tools.every(Boolean), tools.join());
});

await check("a policy marks what it drops and changes, with reasons", async (page, open) => {
  await open(cases.policy.file);
  assert.equal(number(await fact(page, "after")), cases.policy.tokens);
  const dropped = page.locator("[data-message][data-state=dropped]");
  assert.equal(await dropped.count(), cases.policy.dropped);
  const beside = await page.locator("article.dropped:not(.slim):has(.part)").evaluateAll((messages) =>
    messages.filter((message) => {
      const [header, part] = ["header", ".part"].map((name) => message.querySelector(name).getBoundingClientRect());
      return part.top < header.bottom;
    }).map((message) => message.id));
  assert.deepEqual(beside, [], "reasons beside texts, which they make narrow");
  for (const reasons of await dropped.evaluateAll((all) => all.map((article) => article.querySelector(".reasons")?.textContent ?? ""))) {
    assert.match(reasons, /dropped/);
  }
  await menu(page);
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
  const sessions = page.locator("section.replayed");
  assert.equal(await sessions.count(), 2);
  for (const session of await sessions.all()) {
    const rows = await session.locator("tbody tr").count();
    assert.ok(rows > 4);
    assert.equal(await session.locator("path[class^=c]").count(), rows);
    assert.equal(await session.locator(".legend .key:not(.boundary, .provided)").count(), rows);
    const plot = await session.locator(".plot svg").boundingBox();
    assert.ok(plot.width > 500 && plot.height > 100);
  }
  // The verdict comes first, and the first row says what it is.
  assert.ok((await page.locator("h1").boundingBox()).y < 200 && /polic|worth|saves/.test(await page.locator("h1").textContent()));
  assert.ok((await page.locator(".policies tbody th").first().textContent()).includes("really sent"));
  for (const width of [1280, 794]) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ media: width === 794 ? "print" : "screen" });
    const cut = await page.locator(".policies").evaluateAll((tables) => tables.filter((table) => table.getBoundingClientRect().right > innerWidth + 1).length);
    assert.equal(cut, 0, `no column is cut at ${width} px`);
  }
  await page.emulateMedia({ media: "screen" });
  await page.setViewportSize({ width: 1280, height: 800 });
  assert.ok((await page.locator(".notes li").count()) >= 1);
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
  page.mayLoad = SEARCHED;
  await open(cases.index);
  assert.ok(await page.locator("#agent").isVisible(), "the filters of a list need no menu on a wide screen");
  const prompts = () => page.locator(".list tbody tr:visible td:nth-child(1) a").allTextContents();
  const tokens = async () => (await page.locator(".list tbody tr:visible td[data-column=tokens]").allTextContents()).map(number);
  await page.locator(".list th button", { hasText: "Tokens" }).click();
  const sorted = (order) => page.locator(`.list th[data-column=tokens][aria-sort=${order}]`).waitFor();
  await sorted("descending");
  assert.equal(await page.locator(".list th[aria-sort]").count(), 1);
  const falling = await tokens();
  assert.ok(falling.length > 2 && falling.every((count, nth) => nth === 0 || falling[nth - 1] >= count), falling.join());
  await page.locator(".list th button", { hasText: "Tokens" }).focus();
  await page.keyboard.press("Enter");
  await sorted("ascending");
  assert.deepEqual(await tokens(), falling.toReversed());
  await page.locator("#query").fill((await prompts())[0]);
  await page.waitForFunction(() => / of /.test(document.getElementById("matches").textContent));
  assert.ok((await prompts()).length < falling.length);
  await page.locator("#query").fill("");
});

const wait = (page, words) => page.waitForFunction((words) => new RegExp(words).test(document.getElementById("matches").textContent), words);

await check("a search of an index leads to the first place in any text of a session", async (page, open) => {
  page.mayLoad = /\/all\//;
  await open(cases.everything.file);
  assert.equal(await page.locator("script[src]").count(), 0, "nothing is loaded before a search");
  for (const { words } of cases.work.agents) {
    await open(cases.everything.file);
    await page.locator("#query").fill(words.toUpperCase());
    await wait(page, "^1 of ");
    assert.match(await page.locator("tr:visible .also").textContent(), new RegExp(`^in \\d+ messages?: .*${words}`));
    assert.equal(await page.locator("tr:visible .also mark").textContent(), words);
    await page.locator("tbody tr:visible a").click();
    await wait(page, "^1 of \\d+");
    const shown = await page.evaluate(() => {
      const [range] = CSS.highlights.get("match");
      const box = range.getBoundingClientRect();
      return [range.toString(), box.height > 0 && box.top >= 0 && box.bottom <= innerHeight];
    });
    assert.deepEqual(shown, [words, true]);
    await page.goBack();
    await wait(page, "^1 of ");
    assert.equal(await page.locator("#query").inputValue(), words.toUpperCase(), "the search is there when one comes back");
  }
  await page.locator("#query").fill("no session has this");
  await wait(page, "^0 of ");
  await page.locator("#query").fill("");
  await wait(page, "^$");
  assert.equal(await page.locator(".also").count(), 0);
});

await check("an index finds as many messages as the pages, and those that are on no page", async (page, open) => {
  page.mayLoad = /\/all\//;
  const counts = new Map();
  await open(cases.everything.file);
  const links = await page.locator("tbody a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  for (const words of [...cases.everything.words, cases.everything.phrase]) {
    await page.locator("#query").fill("");
    await wait(page, "^$");
    await page.locator("#query").fill(words);
    await wait(page, "^\\d+ of ");
    const found = await page.locator("tbody tr:visible:has(.also)").evaluateAll((rows) => rows.map((row) => [row.querySelector("a").getAttribute("href").split("#")[0], parseInt(row.querySelector(".also").textContent.slice(3).replace(",", ""))]));
    assert.ok(found.length > 0, words);
    counts.set(words, new Map(found));
  }
  for (const link of links.filter((link) => !link.includes("long.jsonl"))) {
    await open(`all/${decodeURIComponent(link)}`);
    const told = await page.evaluate(async (all) => {
      const [query, matches] = ["query", "matches"].map((id) => document.getElementById(id));
      const told = [];
      for (const words of all) {
        query.value = words;
        query.dispatchEvent(new Event("input", { bubbles: true }));
        query.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
        while (!/^(\d+ of \d+(, \d+ of \d+ here)?|0 messages)$/.test(matches.textContent)) await new Promise((done) => { setTimeout(done, 5); });
        told.push(Number(matches.textContent.match(/of (\d+)/)?.[1] ?? 0));
      }
      return told;
    }, [...counts.keys()]);
    assert.deepEqual(told, [...counts.values()].map((found) => found.get(link) ?? 0), link);
  }
  await open(`${cases.everything.file}#q=${encodeURIComponent(cases.everything.beyond)}`);
  await wait(page, "^1 of ");
  await page.locator("tbody tr:visible a").click();
  await wait(page, "not on this page");
});

await check("an index without its files says that it searched only its rows", async (page, open) => {
  page.mayLoad = SEARCHED;
  const text = readFileSync(join(folder, cases.index), "utf8");
  writeFileSync(join(folder, "alone.html"), text);
  page.mayMiss = true;
  await open("alone.html");
  await page.locator("#query").fill("nowhere");
  await wait(page, "^0 of \\d+; only this list was searched");
});

await check("the strip stays in sight with a frame, and the prompts tell where the reader is", async (page, open) => {
  await open(cases.work.file);
  const item = page.locator(".prompts li").nth(1);
  await item.locator("a").click();
  await page.waitForFunction(() => document.querySelector(".prompts li.now")?.previousElementSibling);
  assert.equal(await page.locator(".prompts li.now").count(), 1);
  assert.equal(await item.locator("a").getAttribute("aria-current"), "true");
  const [tools, strip, frame] = await page.evaluate(() => ["#tools", ".strip", ".frame"].map((name) => document.querySelector(name).getBoundingClientRect().toJSON()));
  assert.ok(Math.abs(strip.top - tools.bottom) < 2, "the strip is below the search");
  assert.ok(frame.width > 4 && frame.left > strip.left + 4 && frame.right <= strip.right + 2, JSON.stringify([frame, strip]));
  assert.ok((await item.textContent()).includes("1 failed"));
});

await check("the head answers, and the tab has the prompt as its title", async (page, open) => {
  await open(cases.work.file);
  assert.equal(await page.title(), `${cases.work.title} · curtail`);
  const answers = await page.locator(".answers").first().innerText();
  for (const words of ["2 prompts", "1 failed", "2 sub-agents", "1 file changed"]) assert.ok(answers.replaceAll("\n", " ").includes(words), `${words}: ${answers}`);
});

await check("chips have counts and leave what they say", async (page, open) => {
  await open(cases.work.file);
  const visible = () => page.locator(".chat > article:visible, .chat > .looks > article:visible").count();
  const all = await visible();
  for (const [chip, count] of [["prompts", 2], ["edits", 1], ["failures", 1]]) {
    assert.match(await page.locator(`#${chip}`).textContent(), new RegExp(` ${count}$`));
    await page.locator(`#${chip}`).click();
    assert.equal(await visible(), count, chip);
    assert.equal(await page.locator(`#${chip}`).getAttribute("aria-pressed"), "true");
  }
  assert.ok(await page.locator(".call.failed .result").isVisible(), "a failed call is open");
  await page.locator("#everything").click();
  assert.equal(await visible(), all);
});

await check("keys go to prompts, failed calls and edits, and copy a link", async (page, open) => {
  await open(cases.work.file);
  const isPrompt = () => page.evaluate(() => document.querySelector("article.here").dataset.prompt !== undefined);
  await page.keyboard.press("J");
  const first = await here(page);
  await page.keyboard.press("J");
  assert.ok(await isPrompt());
  assert.notEqual(await here(page), first);
  await page.keyboard.press("K");
  assert.equal(await here(page), first);
  await page.setViewportSize({ width: 1280, height: 160 });
  await page.keyboard.press("e");
  assert.equal(await page.locator(".call.failed.spot").count(), 1);
  await page.waitForFunction(() => {
    const box = document.querySelector(".call.failed.spot > .result").getBoundingClientRect();
    return box.top > 0 && box.top < innerHeight;
  });
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.keyboard.press("e");
  assert.equal(await page.locator("#matches").textContent(), "no failed call below");
  await page.keyboard.press("K");
  await page.keyboard.press("K");
  await page.keyboard.press("d");
  assert.equal(await page.locator(".call.edit.spot:not(.failed)").count(), 1);
  const link = await here(page);
  await page.evaluate(() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; });
  await page.keyboard.press("c");
  assert.ok((await page.evaluate(() => window.copied)).endsWith(`#${link}`));
});

await check("looks in a row are one line, which search and links unfold", async (page, open) => {
  await open(cases.work.file);
  const looks = page.locator(".looks");
  assert.equal(await looks.count(), 1);
  assert.match(await looks.locator("> summary").innerText(), /3 reads, 1 command/);
  assert.ok(!(await looks.evaluate((box) => box.open)));
  const stops = [];
  for (let steps = 0; steps < 4; steps += 1) {
    await page.keyboard.press("j");
    stops.push(await page.evaluate(() => document.querySelector(".here").localName));
  }
  assert.ok(stops.includes("details"), `the line is one stop: ${stops}`);
  await page.locator("#query").fill(cases.work.look);
  await page.keyboard.press("Enter");
  assert.ok(await looks.evaluate((box) => box.open));
});

await check("sub-agents are inside the calls that started them", async (page, open) => {
  await open(cases.work.file);
  assert.equal(await page.locator(".call .agent").count(), 2);
  assert.equal(await page.locator(".chat > .agent").count(), 0);
  for (const { title, words } of cases.work.agents) {
    const agent = page.locator(".agent", { hasText: title });
    assert.ok(await agent.isVisible());
    assert.match(await agent.locator("> summary").innerText(), /1 call/);
    assert.ok(!(await agent.evaluate((box) => box.open)));
    assert.equal(await agent.evaluate((box) => box.children[1].localName), "article", "no gap before its first message");
    await page.locator("#query").fill(words);
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /^1 of/.test(document.getElementById("matches").textContent));
    assert.ok(await agent.evaluate((box) => box.open), "search finds what a sub-agent wrote");
    await page.keyboard.press("Escape");
  }
});

await check("a question is a card with the answer marked, and an edit shows the words that changed", async (page, open) => {
  await open(cases.work.file);
  const question = page.locator(".question");
  assert.ok(await question.isVisible());
  assert.equal(await question.locator("li").count(), 2);
  assert.match(await question.locator(".chosen").textContent(), /Blue/);
  assert.deepEqual(await page.locator(".call.edit:not(.failed) .diff u").allTextContents(), ["tide", "level"]);
});

await check("what looks like a key is named, and masked if that is asked for", async (page, open) => {
  await open(cases.work.file);
  const warning = await page.locator(".warning").textContent();
  assert.match(warning, /1 string that looks like a key \(Anthropic key in message \d+\) and \d+ paths? below \/home\/ada/);
  assert.ok((await page.content()).includes(cases.work.key));
  await open(cases.work.masked);
  assert.equal(await page.locator(".warning").count(), 0);
  const content = await page.content();
  assert.ok(!content.includes(cases.work.key) && !content.includes("/home/ada"));
  assert.ok(content.includes("sk-ant-xxx") || content.includes("api03-xxx"));
});

await check("an index has sums, filters, and all columns on paper and on a phone", async (page, open) => {
  await open(cases.index);
  const sum = async (name) => number((await page.locator(`#sums [data-sum=${name}] b`).textContent()));
  const rows = await page.locator(".list tbody tr").count();
  assert.equal(await sum("transcripts"), rows);
  const tokens = (await page.locator(".list tbody [data-column=tokens]").evaluateAll((all) => all.map((one) => Number(one.dataset.value)))).reduce((sum, one) => sum + one, 0);
  assert.equal(await sum("tokens"), tokens);
  const failing = Number((await page.locator("#failures").textContent()).match(/^With failures (\d+)$/)[1]);
  await page.locator("#failures").click();
  const left = page.locator(".list tbody tr:visible");
  assert.ok((await left.count()) < rows && (await left.count()) > 0);
  assert.equal(await sum("transcripts"), await left.count());
  assert.equal(await left.count(), failing);
  await page.locator("#everything").click();
  for (const width of [390, 794, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ media: width === 794 ? "print" : "screen" });
    const cut = await page.evaluate(() => Array.from(document.querySelectorAll(".list tbody td")).filter((cell) => {
      const box = cell.getBoundingClientRect();
      return box.width && (box.right > innerWidth + 1 || (cell.dataset.unit && cell.scrollWidth > cell.clientWidth + 1));
    }).map((cell) => cell.textContent));
    assert.deepEqual(cut, [], `${width} px`);
  }
});

await check("an index of thousands opens and is searched", async (page, open) => {
  const text = readFileSync(join(folder, cases.index), "utf8");
  const [head, rest] = text.split(/(?<=<tbody role="rowgroup">)/);
  const [rows, tail] = rest.split("</tbody>");
  const row = `${rows.split("</tr>")[0]}</tr>`;
  page.mayLoad = SEARCHED;
  writeFileSync(join(folder, "pages/many.html"), head + row.repeat(5000) + "</tbody>" + tail);
  await open("pages/many.html");
  const said = (words) => page.waitForFunction((words) => document.getElementById("matches").textContent === words, words);
  await page.locator("#query").fill("nowhere");
  await said("0 of 5000");
  await page.locator("#query").fill("e");
  await said("5000 of 5000");
  // Whoever types on sees what the last words find, even if the rows of the earlier ones are not all told yet.
  await page.locator("#query").fill("");
  await page.waitForFunction(() => Array.from(document.querySelectorAll(".list tbody tr .also")).length < 5000);
  await page.locator("#query").fill("nowhere");
  await said("0 of 5000");
  assert.equal(await page.locator(".list tbody tr:not([hidden])").count() + await page.locator(".also").count(), 0);
  await page.locator("#query").fill("");
  await said("");
  assert.equal(await page.locator(".list tbody tr[hidden]").count(), 0);
});

await check("a frequent word of a long session is found without building all of it", async (page, open) => {
  await open(cases.big.file);
  const built = await page.locator(".later[data-rows]").count();
  await page.locator("#query").fill("bracket");
  await page.waitForFunction(() => /messages$/.test(document.getElementById("matches").textContent));
  const found = number((await page.locator("#matches").textContent()).split(" ")[0]);
  assert.equal(found, cases.big.messages / 3 * 2, "each message that has it");
  assert.ok((await page.locator(".later[data-rows]").count()) >= built - 3, "rows are not built for a search");
  await page.locator("#failures").isVisible();
  await page.keyboard.press("Enter");
  await page.locator("#query").blur();
  for (let steps = 0; steps < 5; steps += 1) await page.keyboard.press("j");
  await page.locator("#prompts").click();
  await page.locator("#everything").click();
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
  await press("#menu > summary", "Enter");
  assert.ok(await page.locator("#fold").isVisible(), "the menu is open");
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator("#fold").isVisible()), "the menu is closed");
  await menu(page);
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
  await menu(page);
  await press("#by", "ArrowDown");
  assert.notEqual(await page.locator("#by").inputValue(), "");
  await press("#keys", "Enter");
  assert.ok(await page.locator("#help").evaluate((dialog) => dialog.open), "the help is open");
  await page.keyboard.press("Enter");
  assert.ok(!(await page.locator("#help").evaluate((dialog) => dialog.open)), "the help is closed");
  await open(cases.hostile.file);
  await menu(page);
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
  await menu(page);
  await page.locator("#fold").click();
  const links = await page.locator("article a").evaluateAll((all) => all.map((link) => link.href));
  assert.deepEqual(links.filter((link) => !/^(file|https?):/.test(link)), []);
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
    await check(`axe finds nothing, ${colorScheme}, ${width} px`, async (page, open) => {
      for (const file of [cases.chat, cases.work.file, cases.policy.file, cases.hostile.file, cases.list, cases.index, cases.two.file, cases.replay]) {
        await open(file);
        await page.evaluate(() => document.querySelectorAll("details").forEach((box) => { box.open = true; }));
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => globalThis.axe.run());
        const words = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 120)} ${node.failureSummary}`).join(" | ")}`);
        assert.deepEqual(words, [], file);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${file}: ${wide} px too wide`);
      }
    }, { colorScheme, viewport: { width, height: 800 } });
  }
}

await check("a long session is usable when it has opened", async (page, open) => {
  await open(cases.big.file);
  await page.keyboard.press("j");
  await page.waitForFunction(() => document.querySelector("article.here"));
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
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("matches").textContent.startsWith("1 of 1"));
  assert.equal(await here(page), `m${messages - 2}`);
  assert.ok((await articles.count()) < messages / 3 * 2);
  await page.keyboard.press("Escape");
  const built = () => page.locator(".later").count();
  const before = await built();
  await page.locator("#prompts").click();
  assert.ok((await built()) >= before - 4, "only prompts in sight are built");
  await page.locator("#prompts").click();
  await menu(page);
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
