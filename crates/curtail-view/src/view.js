"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const [tools, query, matches, help, fold, source, menu] = ["tools", "query", "matches", "help", "fold", "source", "menu"].map(byId);
  const main = document.querySelector("main");
  const lines = (text) => (text ?? "").split("\n").filter(Boolean);
  const isPressed = (button) => button.getAttribute("aria-pressed") === "true";
  const say = (words) => { matches.textContent = words; };
  // What ends a session, a message and a block in texts that are searched: characters that no page contains.
  const [SESSION_END, MESSAGE_END, BLOCK_END] = ["\x1d", "\x1e", "\x1f"];
  const INLINE = new Set(["a", "b", "code", "del", "em", "ins", "s", "span", "strong", "time", "u"]);
  // Words in any case, wherever their lines end.
  const patternOf = (words) => new RegExp(words.split(/\s+/).map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("\\s+"), "gi");
  const has = (text, pattern) => text.search(pattern) >= 0;

  // Rows are messages of the conversation and sub-agents that no call shows; what is inside of them is part of them.
  const isTop = (one) => !one.parentElement.closest("article, .agent");
  let known = null;
  const rows = () => (known ??= Array.from(document.querySelectorAll("article, .agent")).filter(isTop));

  // Times in the zone of the reader, and a button to copy code.
  const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
  const dayAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
  function dress(root) {
    for (const time of root.querySelectorAll("time")) {
      const at = new Date(time.dateTime);
      if (!Number.isNaN(at.getTime())) time.textContent = ({ alone: day, "": dayAndTime }[time.dataset.day] ?? clock).format(at);
    }
    for (const pre of navigator.clipboard ? root.querySelectorAll(".chat pre, .part pre") : []) {
      if (pre.querySelector(".copy")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "Copy";
      pre.prepend(button);
    }
  }
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.(".copy");
    if (!button) return;
    const copy = button.parentElement.cloneNode(true);
    for (const extra of copy.querySelectorAll(".copy, .sign, .of")) extra.remove();
    await navigator.clipboard.writeText(copy.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  dress(document);

  // Later rows of a long page are built when they come into sight, or when something in them is needed.
  const later = new Set(document.querySelectorAll(".later"));
  const textOf = (part) => part.firstElementChild.textContent;
  function build(part) {
    if (!later.delete(part)) return;
    sight?.unobserve(part);
    part.innerHTML = textOf(part);
    part.classList.replace("later", "built");
    part.hidden = false;
    known = null;
    dress(part);
    filterRows(part);
    if (isFiltering()) headings();
    if (fold.textContent === "Fold all") for (const box of part.querySelectorAll("article details:not(.raw)")) box.open = true;
    settleRail(part);
    follow();
  }
  const buildAll = () => later.forEach(build);
  const sight = globalThis.IntersectionObserver && new IntersectionObserver(
    (seen) => buildSoon(seen.filter((one) => one.isIntersecting).map((one) => one.target)), { rootMargin: "1500px" });
  // What takes long is done piece by piece, so that the page answers meanwhile.
  const SLICE = 30;
  const awaited = new Set();
  function buildSoon(parts) {
    if (!awaited.size && parts.length) setTimeout(buildSome);
    for (const part of parts) awaited.add(part);
  }
  function buildSome() {
    const begun = performance.now();
    for (const part of awaited) {
      awaited.delete(part);
      build(part);
      if (performance.now() - begun > SLICE) break;
    }
    if (awaited.size) setTimeout(buildSome);
  }
  // The element of an id such as m12, which may be among rows that are not built yet.
  function find(id) {
    const known = byId(id);
    if (known) return known;
    for (const part of later) if (textOf(part).includes(` id="${id}"`)) build(part);
    return byId(id);
  }

  // Filters: a chip for what is asked for most, and lists for the rest
  const filters = ["by", "tool", "state"].map(byId).filter(Boolean);
  const listed = (name) => Array.from(later).flatMap((part) => lines(part.dataset[name]));
  const states = (row) => [row, ...row.querySelectorAll("[data-state]")].map((one) => one.dataset.state);
  const chips = ["prompts", "edits", "failures", "dropped"].map(byId).filter(Boolean);
  const everything = byId("everything");
  const chosen = () => chips.find(isPressed)?.id;
  const shows = {
    prompts: (row) => row.dataset.prompt !== undefined,
    edits: (row) => Boolean(row.dataset.edits),
    failures: (row) => Boolean(row.dataset.failures),
    dropped: (row) => states(row).includes("dropped"),
  };
  const isFiltering = () => Boolean(chosen()) || filters.some((select) => select.value);
  function isFiltered(row) {
    const { by, tool, state } = Object.fromEntries(filters.map((select) => [select.id, select.value]));
    const chip = chosen();
    return Boolean((chip && !shows[chip](row)) || (by && !lines(row.dataset.by).includes(by)) ||
      (state && !states(row).includes(state)) || (tool && !lines(row.dataset.tools).includes(tool)));
  }
  function filterRows(root) {
    const state = byId("state")?.value || (chosen() === "dropped" ? "dropped" : "");
    const some = root ? Array.from(root.querySelectorAll("article, .agent")).filter(isTop) : rows();
    for (const row of some) {
      row.hidden = isFiltered(row);
      if (row.hidden) continue;
      // What is looked for may be folded.
      if (state) for (const result of row.querySelectorAll(`.result[data-state="${state}"]`)) unfold(result);
      if (chosen() === "failures") for (const call of row.querySelectorAll(".call.failed")) unfold(call);
    }
    for (const box of (root ?? document).querySelectorAll(".looks")) {
      box.hidden = Array.from(box.children).every((one) => one.localName === "summary" || one.hidden);
    }
  }
  // Rows that are not built are hidden if nothing in them is shown; the others are built in sight, and take less room.
  function filterLater(part) {
    if (!part.dataset.rows) return;
    const lists = { by: "by", tool: "tools", state: "states" };
    const chip = chosen();
    part.hidden = (chip && !Number(part.dataset[chip])) || filters.some((select) =>
      select.value && !lines(part.dataset[lists[select.id]]).includes(select.value));
    part.style.setProperty("--rows", chip ? Math.min(part.dataset[chip], part.dataset.rows) : part.dataset.rows);
  }
  function filter() {
    later.forEach(filterLater);
    main.dataset.by = byId("by").value;
    filterRows();
    headings();
    follow();
  }
  // Without messages a turn has no heading, and without the next message there is no gap before it.
  function headings() {
    let turn = null;
    let gaps = [];
    for (const row of document.querySelectorAll(".chat :is(h2.turn, .gap, article)")) {
      if (row.localName === "article" ? !isTop(row) : row.closest(".agent")) continue;
      if (row.localName === "article") {
        for (const gap of gaps) gap.hidden = row.hidden;
        gaps = [];
        if (turn && !row.hidden) turn.hidden = false;
      } else if (row.matches(".gap")) {
        gaps.push(row);
      } else {
        turn = row;
        turn.hidden = isFiltering();
      }
    }
  }
  function choose(chip) {
    const isOn = chip && !isPressed(chip);
    for (const other of [everything, ...chips, byId("findings")]) other?.setAttribute("aria-pressed", "false");
    (isOn ? chip : everything).setAttribute("aria-pressed", "true");
    if (table) return searchRows();
    filter();
    search();
  }
  for (const chip of [everything, ...chips]) chip.addEventListener("click", () => choose(chip === everything ? null : chip));

  // The list of transcripts: a click on the name of a column sorts it; the search and the filters of an index leave out rows.
  const list = document.querySelector(".list table");
  const table = list && !document.querySelector("section.session") ? list : null;
  const columns = new Map(Array.from(list?.tHead.rows[0].cells ?? [], (head, nth) => [head.dataset.column, nth]));
  function valueOf(row, column) {
    const cell = row.cells[columns.get(column)];
    return cell.getAttribute("data-value") ?? cell.textContent.trim();
  }
  const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  function sortBy(head) {
    const column = head.dataset.column;
    const falls = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
    for (const other of list.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls < 0 ? "descending" : "ascending");
    const keyed = Array.from(list.tBodies[0].rows, (row) => [valueOf(row, column), row]);
    const isNumber = keyed.every(([value]) => value === "" || !Number.isNaN(Number(value)));
    const compare = isNumber ? (one, other) => one - other : order.compare;
    keyed.sort(([one], [other]) => falls * compare(one, other));
    list.tBodies[0].append(...keyed.map(([, row]) => row));
  }
  for (const head of Array.from(list?.tHead.rows[0].cells ?? [])) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    // In a task of its own: the click is answered before all rows are drawn.
    button.addEventListener("click", () => setTimeout(sortBy, 0, head));
    head.replaceChildren(button);
  }
  const sums = Array.from(document.querySelectorAll("#sums [data-sum]"));
  const figure = new Intl.NumberFormat("en-US");
  const money = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
  const dollars = (amount) => (amount > 0 && amount < 0.01 ? "<$0.01" : money.format(amount));
  // The texts of all sessions of an index are in files beside it, which are loaded when somebody searches.
  const packed = [];
  globalThis.curtailTexts = (links, data) => packed.push({ links, data });
  const textsOf = new Map();
  let isIncomplete = false;
  let reading = null;
  const loadScript = (src) => new Promise((done) => {
    const script = document.createElement("script");
    script.src = src;
    script.onload = () => done(true);
    script.onerror = () => done(false);
    document.head.append(script);
  });
  async function unpack({ links, data }) {
    const coded = atob(data);
    const bytes = new Uint8Array(coded.length);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = coded.charCodeAt(at);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const texts = (await new Response(stream).text()).split(SESSION_END);
    for (const [nth, link] of links.entries()) textsOf.set(link, texts[nth]);
  }
  async function readTexts() {
    for (let file = 1; file <= Number(list.dataset.texts); file += 1) {
      if (!(await loadScript(`search-${file}.js`))) isIncomplete = true;
      for (const block of packed.splice(0)) await unpack(block);
    }
  }
  // The number of messages that have what is looked for, and the first place of it with what is around.
  function hitIn(text, pattern) {
    const hit = { messages: 0 };
    pattern.lastIndex = 0;
    for (let one = pattern.exec(text); one; one = pattern.exec(text)) {
      hit.messages += 1;
      if (hit.messages === 1) hit.words = around(text, one.index, one.index + one[0].length);
      const end = text.indexOf(MESSAGE_END, one.index);
      if (end < 0) break;
      pattern.lastIndex = end;
    }
    return hit.messages ? hit : null;
  }
  // The words from one place to another, and those before and after them in their block.
  function around(text, from, to) {
    const before = text.slice(Math.max(0, from - 60), from).match(/[^\x1d-\x1f]*$/)[0];
    const after = text.slice(to, to + 60).match(/^[^\x1d-\x1f]*/)[0];
    return [before.length === 60 ? `…${before.replace(/^\S*\s/, "")}` : before, text.slice(from, to), after.length === 60 ? `${after.replace(/\s\S*$/, "")}…` : after];
  }
  // What a row shows before anything is told in it, and its page.
  const firstShown = new WeakMap();
  function shownIn(row) {
    if (!firstShown.has(row)) firstShown.set(row, { text: row.textContent, page: row.querySelector("a")?.getAttribute("href") });
    return firstShown.get(row);
  }
  const alsoIn = new Map();
  function tellHit(row, hit, words) {
    if (!hit && !alsoIn.has(row)) return;
    alsoIn.get(row)?.remove();
    alsoIn.delete(row);
    row.querySelector("a")?.setAttribute("href", shownIn(row).page + (hit ? `#q=${encodeURIComponent(words)}` : ""));
    if (!hit) return;
    const also = document.createElement("span");
    alsoIn.set(row, also);
    const mark = document.createElement("mark");
    const [before, found, after] = hit.words;
    also.className = "also";
    mark.textContent = found;
    also.append(`in ${hit.messages === 1 ? "1 message" : `${figure.format(hit.messages)} messages`}: ${before}`, mark, after);
    row.cells[0].append(also);
  }
  // Does something with each row, and lets the page answer meanwhile, also after as many rows as are `drawn` at once; false if a
  // newer search began.
  async function pieceByPiece(all, turn, work, drawn = Infinity) {
    let begun = performance.now();
    for (const [nth, row] of all.entries()) {
      work(row);
      const isFull = (nth + 1) % drawn === 0;
      if (!isFull && performance.now() - begun < SLICE) continue;
      await new Promise((done) => { setTimeout(done, isFull ? 16 : 0); });
      if (turn !== searching) return false;
      begun = performance.now();
    }
    return turn === searching;
  }
  async function searchRows() {
    const turn = (searching += 1);
    const words = query.value.trim();
    const pattern = words && patternOf(words);
    const all = Array.from(list.tBodies[0].rows);
    const needs = ["agent", "project"].map((name) => [name, byId(name)?.value]).filter(([, value]) => value);
    const chip = ["failures", "findings"].find((id) => isPressed(byId(id)));
    // Whoever comes back from a page finds the list as it was.
    history.replaceState(null, "", words ? `#q=${encodeURIComponent(words)}` : location.href.split("#")[0]);
    if (words) {
      say("searching …");
      await (reading ??= readTexts());
    }
    const hits = new Map();
    const isCurrent = await pieceByPiece(words ? all : [], turn, (row) => {
      const { page, text } = shownIn(row);
      const hit = hitIn(textsOf.get(page) ?? "", pattern);
      if (hit || has(text, pattern)) hits.set(row, hit);
    });
    let shown = 0;
    const totals = sums.map(() => 0);
    const isDone = isCurrent && await pieceByPiece(all, turn, (row) => {
      row.hidden = Boolean(words && !hits.has(row)) || needs.some(([name, value]) => valueOf(row, name) !== value) ||
        Boolean(chip && !Number(valueOf(row, chip === "failures" ? "failed" : chip)));
      tellHit(row, hits.get(row), words);
      if (row.hidden) return;
      shown += 1;
      for (const [nth, { dataset: { sum } }] of sums.entries()) totals[nth] += sum === "transcripts" ? 1 : Number(valueOf(row, sum));
    }, 1000);
    if (!isDone) return;
    const missing = words && isIncomplete ? "; only this list was searched, because search-*.js is not beside it" : "";
    say((words || shown < all.length ? `${shown} of ${all.length}` : "") + missing);
    for (const [nth, sum] of sums.entries()) {
      sum.querySelector("b").textContent = (sum.dataset.sum === "cost" ? dollars : figure.format)(totals[nth]);
    }
  }
  // The strip and the prompts tell where the reader is.
  const placesOf = new WeakMap();
  function places(section) {
    const strip = section.querySelector(".strip");
    if (!strip) return null;
    if (!placesOf.has(section)) {
      const frame = document.createElement("span");
      frame.className = "frame";
      strip.append(frame);
      const number = (link) => Number(link.getAttribute("href").match(/m(\d+)$/)?.[1]);
      const blocks = Array.from(strip.querySelectorAll("a"), (link) => {
        const rect = link.firstElementChild;
        return { message: number(link), left: Number(rect.getAttribute("x")), width: Number(rect.getAttribute("width")) };
      });
      const prompts = Array.from(section.querySelectorAll(".prompts li"), (item) => ({ message: number(item.querySelector("a")), item }));
      placesOf.set(section, { frame, blocks, prompts, now: null });
    }
    return placesOf.get(section);
  }
  const lastUntil = (all, message) => {
    let [from, to] = [0, all.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (all[middle].message <= message) from = middle + 1; else to = middle;
    }
    return all[from - 1];
  };
  const top = (section) => tools.offsetHeight * (getComputedStyle(tools).position === "sticky") + (section?.querySelector(".strip")?.offsetHeight ?? 0);
  // The first or last message that is in sight, from the top or the bottom of the window.
  function inSight(section, from, by) {
    const x = section.querySelector(".chat").getBoundingClientRect().left + 40;
    for (let y = from; y > 0 && y < innerHeight; y += by) {
      const one = document.elementFromPoint(x, y)?.closest(".chat :is(article[data-message], .looks, .later)");
      if (!one) continue;
      const row = one.matches(".looks") ? one.querySelector("article") : one.parentElement.closest("article[data-message]") ?? one;
      return { message: Number(row.dataset.message ?? row.dataset.first), section: row.closest("section.session") };
    }
    return null;
  }
  let following = 0;
  function follow() {
    following ||= requestAnimationFrame(() => {
      following = 0;
      const sections = Array.from(document.querySelectorAll("section.session"));
      const section = sections.findLast((one) => one.getBoundingClientRect().top < innerHeight / 2) ?? sections[0];
      const place = section && places(section);
      if (!place) return;
      const first = inSight(section, top(section) + 12, 24);
      const last = first && inSight(section, innerHeight - 12, -24);
      place.frame.hidden = !first;
      if (!first) return;
      const [from, to] = [lastUntil(place.blocks, first.message), lastUntil(place.blocks, (last ?? first).message)];
      if (from && to) {
        const width = Math.max(0.8, (to.left + to.width - from.left) / 1000);
        place.frame.style.left = `${Math.min(from.left / 1000, 100 - width)}%`;
        place.frame.style.width = `${width}%`;
      }
      const now = lastUntil(place.prompts, first.message)?.item ?? null;
      if (now === place.now) return;
      place.now?.classList.remove("now");
      place.now?.querySelector("a").removeAttribute("aria-current");
      place.now = now;
      now?.classList.add("now");
      now?.querySelector("a").setAttribute("aria-current", "true");
      const rail = now?.closest(".prompts");
      if (!rail || rail.scrollHeight <= rail.clientHeight) return;
      const [box, around] = [now.getBoundingClientRect(), rail.getBoundingClientRect()];
      if (box.top < around.top || box.bottom > around.bottom) rail.scrollTop += box.top - around.top - rail.clientHeight / 3;
    });
  }
  addEventListener("scroll", follow, { passive: true });
  addEventListener("resize", follow, { passive: true });
  // Where the prompts are above the conversation, many of them are folded.
  function settleRail(root) {
    if (!matchMedia("(max-width: 62rem)").matches) return;
    for (const box of root.querySelectorAll(".prompts > details")) box.open = box.querySelectorAll("li").length <= 8;
  }

  // Moving
  let here = null;
  function go(row, target = row) {
    if (!row) return;
    here?.classList.remove("here");
    here = row;
    row.classList.add("here");
    settle(target, target instanceof Element ? "start" : "center");
  }
  // What comes into sight takes its real height, which moves everything below: scroll until nothing moves any more.
  let settling = 0;
  function settle(target, block) {
    const turn = (settling += 1);
    const node = target instanceof Element ? target : target.startContainer.parentElement;
    const bar = top(node.closest("section.session")) + 8;
    let left = 90;
    let still = 0;
    const scroll = () => {
      if (turn !== settling || !left) return;
      left -= 1;
      const box = target.getBoundingClientRect();
      const top = block === "start" ? bar : Math.max(bar, (innerHeight - box.height) / 2);
      const before = scrollY;
      if (Math.abs(box.top - top) > 1) scrollBy({ top: box.top - top, behavior: "instant" });
      still = scrollY === before ? still + 1 : 0;
      if (still < 8) requestAnimationFrame(scroll);
    };
    scroll();
  }
  // A reader who scrolls decides.
  for (const kind of ["wheel", "touchmove", "pointerdown"]) addEventListener(kind, () => { settling += 1; }, { passive: true });
  // Where j and k stop: a line that stands for several messages is one place while it is folded.
  function stops() {
    const isStop = (one) => (one.matches(".looks") ? !one.open : !one.parentElement.matches(".looks:not([open])")) && isTop(one);
    return Array.from(document.querySelectorAll("article, .agent, .later[data-rows], .looks")).filter(isStop);
  }
  // To the next row that is `wanted`; `count` is the name of their number among rows that are not built. Returns the row.
  function step(by, wanted = () => true, count = "rows") {
    let all = stops();
    let at = here ? all.indexOf(here.closest(".looks:not([open])") ?? here) : -1;
    if (at < 0) {
      const line = top(document.querySelector("section.session")) + 8;
      at = all.findIndex((row) => !row.hidden && row.getBoundingClientRect().bottom > line) - (by > 0 ? 1 : 0);
    }
    for (at += by; at >= 0 && at < all.length; at += by) {
      if (later.has(all[at])) {
        if (all[at].hidden || !Number(all[at].dataset[count])) continue;
        const length = all.length;
        build(all[at]);
        all = stops();
        if (by < 0) at += all.length - length;
        if (later.has(all[at]) || !all[at]) continue;
      }
      if (!all[at].hidden && wanted(all[at])) {
        go(all[at]);
        // Tab goes on from here.
        here.tabIndex = -1;
        here.focus({ preventScroll: true });
        return all[at];
      }
    }
    return null;
  }
  // Along what is inside of messages: first in this one, then in the next one that has any.
  let spot = -1;
  function along(by, inside, count, words) {
    const spots = here ? Array.from(here.querySelectorAll(inside)) : [];
    const at = spots.findIndex((one) => one.classList.contains("spot"));
    const next = at < 0 && here ? null : spots[at + by];
    document.querySelector(".spot")?.classList.remove("spot");
    const row = next ? here : step(by, (row) => row.querySelector(inside) !== null, count);
    if (!row) return say(by > 0 ? `no ${words} below` : `no ${words} above`);
    const all = Array.from(row.querySelectorAll(inside));
    const target = next ?? all.at(by > 0 ? 0 : -1);
    target.classList.add("spot");
    unfold(target);
    // The error of a long call would be out of sight.
    const error = target.matches(".failed") && target.offsetHeight > innerHeight / 2 && target.querySelector(":scope > .result");
    go(row, error || target);
    say("");
  }
  // The strip is one stop of the Tab key: arrows move along it, and Enter follows the link.
  document.addEventListener("keydown", (event) => {
    const link = event.target.closest?.(".strip a");
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity }[event.key];
    if (!link || !by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const links = Array.from(link.closest(".strip").querySelectorAll("a"));
    const next = links[Math.min(links.length - 1, Math.max(0, links.indexOf(link) + by))];
    link.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
  const unfold = (node) => {
    for (let box = node; box; box = box.parentElement) if (box.localName === "details" && !box.matches(".raw")) box.open = true;
  };
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#q=")) return searchFor(decodeURIComponent(location.hash.slice(3)));
    const target = find(decodeURIComponent(location.hash.slice(1)));
    const article = target?.closest("article");
    if (article) {
      const row = rows().find((one) => one.contains(article)) ?? article;
      row.hidden = false;
      unfold(target);
      go(article, target);
      article.tabIndex = -1;
      article.focus({ preventScroll: true });
    } else if (target) {
      settle(target, "start");
    }
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    // A second click on the same link has no new hash.
    const id = link && (link.getAttribute("href") ?? "").slice(1);
    if (id && id === decodeURIComponent(location.hash.slice(1))) dispatchEvent(new HashChangeEvent("hashchange"));
  });
  async function copyLink() {
    const article = here?.closest("article") ?? here?.querySelector("article");
    if (!article?.id || !navigator.clipboard) return;
    const link = new URL(location.href);
    link.hash = article.id;
    await navigator.clipboard.writeText(link.href);
    say("link copied");
  }

  // Searching: what a message shows, block by block, without its heading, numbers of tokens and notes. A link, a bold word or a
  // color does not end a block.
  const unseen = () => `header, .tokens, .note, .copy, ${isPressed(source) ? ".md" : ".raw"}`;
  function placesOfText(article) {
    const nodes = [];
    const skipped = unseen();
    let text = "";
    const visit = (parent) => {
      for (const node of parent.childNodes) {
        if (node.nodeType === Node.TEXT_NODE) {
          nodes.push({ node, from: text.length });
          text += node.data;
        } else if (node.localName === "br") {
          text += "\n";
        } else if (INLINE.has(node.localName) && !node.matches(skipped)) {
          visit(node);
        } else {
          text += BLOCK_END;
          if (node.localName !== "article" && !node.matches(skipped)) visit(node);
          text += BLOCK_END;
        }
      }
    };
    visit(article);
    return { text, nodes };
  }
  function rangesOf(article, pattern) {
    const { text, nodes } = placesOfText(article);
    const all = [];
    let last = 0;
    const place = (at, isEnd) => {
      while (nodes[last + 1] && nodes[last + 1].from + Number(isEnd) <= at) last += 1;
      return [nodes[last].node, at - nodes[last].from];
    };
    for (const found of text.matchAll(pattern)) {
      if (all.length === 500) break;
      const range = new Range();
      range.setStart(...place(found.index, false));
      range.setEnd(...place(found.index + found[0].length, true));
      all.push(range);
    }
    return all;
  }
  // The messages in the HTML of a part that is not built, each without those inside of it.
  const stripped = { shown: new WeakMap(), source: new WeakMap() };
  function messagesIn(part) {
    const known = stripped[isPressed(source) ? "source" : "shown"];
    if (!known.has(part)) known.set(part, splitMessages(textOf(part)));
    return known.get(part);
  }
  function splitMessages(html) {
    const all = [];
    const open = [];
    let from = 0;
    for (const tag of html.matchAll(/<(?:\/article>|article )/g)) {
      if (open.length) open.at(-1).html += html.slice(from, tag.index) + BLOCK_END;
      if (tag[0].startsWith("</")) open.pop();
      else { open.push({ html: "", top: open[0] }); all.push(open.at(-1)); }
      from = tag.index;
    }
    return all.map(({ html, top }) => ({ head: (top?.html ?? html).match(/^<\w+ [^>]*>/)?.[0] ?? "", id: html.match(/ id="([^"]+)"/)?.[1], text: strip(html) }));
  }
  const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"' };
  function strip(html) {
    const hidden = isPressed(source) ? /<div class="md"[^]*?<details class="raw">/g : /<details class="raw">[^]*?<\/details>/g;
    return html.replace(hidden, BLOCK_END).replace(/<header>[^]*?<\/header>|<span class="tokens"[^]*?<\/span>|<p class="note">[^]*?<\/p>/g, BLOCK_END).replaceAll("<br>", "\n")
      .replace(/<\/?(\w+)[^>]*>/g, (_, name) => (INLINE.has(name) ? "" : BLOCK_END)).replace(/&(amp|lt|gt|quot);/g, (_, name) => ENTITIES[name]);
  }
  const template = document.createElement("template");
  function isShown(message) {
    template.innerHTML = `${message.head}</article>`;
    const row = template.content.firstElementChild;
    return row && !isFiltered(row);
  }
  function foundIn(part, pattern) {
    if (part.hidden) return [];
    const isAny = isFiltering();
    return messagesIn(part).filter((one) => has(one.text, pattern) && (!isAny || isShown(one))).map(({ id }) => ({ id }));
  }
  let found = [];
  let match = -1;
  // The places of the words in the message of the match, and the current one.
  let ranges = [];
  let place = -1;
  let searching = 0;
  let isScanning = false;
  let waiting = 0;
  function search() {
    if (table) return searchRows();
    const words = query.value.trim();
    const pattern = patternOf(words);
    const turn = (searching += 1);
    [found, match, ranges, place, waiting] = [[], -1, [], -1, 0];
    for (const name of ["found", "match"]) globalThis.CSS?.highlights?.delete(name);
    if (!words) return say("");
    const all = Array.from(document.querySelectorAll("article, .later[data-rows]"));
    let at = 0;
    const scan = () => {
      if (turn !== searching) return;
      const begun = performance.now();
      for (; at < all.length && performance.now() - begun < SLICE; at += 1) {
        const one = all[at];
        if (later.has(one)) found.push(...foundIn(one, pattern));
        else if (one.localName !== "article") continue;
        else if (has(one.textContent, pattern) && !one.closest("[hidden]") && has(placesOfText(one).text, pattern)) found.push({ article: one });
      }
      const isDone = at >= all.length;
      isScanning = !isDone;
      if (waiting && found.length) { const by = waiting; waiting = 0; jump(by); }
      else if (isDone && !found.length && words === linked) say("only in a text that is not on this page (--max-text)");
      else if (match < 0) say(`${found.length === 1 ? "1 message" : `${found.length} messages`}${isDone ? "" : " …"}`);
      else if (isDone) tell();
      if (!isDone) setTimeout(scan);
    };
    scan();
  }
  const tell = () => say(`${match + 1} of ${found.length}${isScanning ? " …" : ""}` + (ranges.length > 1 ? `, ${place + 1} of ${ranges.length} here` : ""));
  // To the next place of the words: in this message, or else in the next one that has them.
  function jump(by) {
    if (!found.length) { waiting = by; return; }
    place += by;
    if (place < 0 || place >= ranges.length) {
      match = match < 0 && by < 0 ? found.length - 1 : (match + by + found.length) % found.length;
      const one = found[match];
      one.article ??= find(one.id);
      ranges = one.article ? rangesOf(one.article, patternOf(query.value.trim())) : [];
      place = by < 0 ? ranges.length - 1 : 0;
      for (const range of ranges.slice(0, 50)) unfold(range.startContainer.parentElement);
      highlight("found", ranges);
    }
    const range = ranges[place];
    if (range) unfold(range.startContainer.parentElement);
    highlight("match", range ? [range] : []);
    go(found[match].article, range);
    tell();
  }
  function highlight(name, all) {
    if (globalThis.CSS?.highlights && typeof Highlight === "function") CSS.highlights.set(name, new Highlight(...all));
  }
  // What an index was searched for leads to its first place.
  let linked = null;
  function searchFor(words) {
    query.value = linked = words;
    search();
    jump(1);
  }
  let timer = 0;
  const searchNow = () => { clearTimeout(timer); timer = 0; search(); };
  if (table) query.addEventListener("focus", () => { reading ??= readTexts(); });
  query.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(searchNow, 120); });
  query.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !table) {
      event.preventDefault();
      if (timer || match < 0 && !waiting) searchNow();
      jump(event.shiftKey ? -1 : 1);
    }
    if (event.key === "Escape") { query.value = ""; searchNow(); query.blur(); }
  });

  // Folding, settings and keys
  fold.addEventListener("click", () => {
    const open = fold.textContent === "Unfold all";
    for (const box of document.querySelectorAll(".chat details:not(.raw)")) box.open = open;
    fold.textContent = open ? "Fold all" : "Unfold all";
  });
  source.addEventListener("click", () => {
    source.setAttribute("aria-pressed", String(!isPressed(source)));
    document.body.classList.toggle("source", isPressed(source));
    for (const box of document.querySelectorAll(".raw")) box.open = isPressed(source);
  });
  byId("keys").addEventListener("click", () => help.showModal());
  document.addEventListener("click", (event) => {
    if (menu.open && !menu.contains(event.target) && !event.target.closest?.(".chips, #help")) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { menu.open = false; menu.firstElementChild.focus(); }
  });
  const isPrompt = (row) => row.dataset.prompt !== undefined;
  const hasPolicy = byId("dropped") !== null;
  function different(by) {
    if (!hasPolicy) return along(by, ".call.edit:not(.failed)", "edits", "edit");
    if (!step(by, (row) => states(row).some((state) => state && state !== "kept"), "rows")) say("nothing dropped or changed");
  }
  const keys = {
    j: () => step(1),
    k: () => step(-1),
    J: () => step(1, isPrompt, "prompts"),
    K: () => step(-1, isPrompt, "prompts"),
    e: () => along(1, ".call.failed", "failures", "failed call"),
    E: () => along(-1, ".call.failed", "failures", "failed call"),
    d: () => different(1),
    D: () => different(-1),
    c: copyLink,
    n: () => jump(1),
    N: () => jump(-1),
    o: () => {
      const boxes = here ? [here, ...here.querySelectorAll("details:not(.raw)")].filter((box) => box.localName === "details") : [];
      const open = boxes.some((box) => !box.open);
      for (const box of boxes) box.open = open;
    },
    "/": () => { query.focus(); query.select(); },
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (event.target.closest?.("input, select, textarea")) return;
    const key = keys[event.key];
    if (key && (!table || "/?".includes(event.key))) { event.preventDefault(); key(); }
  });
  // On paper nothing folds; afterwards the page is as it was.
  let opened = [];
  addEventListener("beforeprint", () => {
    buildAll();
    opened = Array.from(document.querySelectorAll(".chat details:not(.raw, [open]), .prompts details:not([open])"));
    for (const box of opened) box.open = true;
  });
  addEventListener("afterprint", () => {
    for (const box of opened) box.open = false;
    opened = [];
  });

  // What is offered depends on what there is.
  const values = {
    by: new Set(rows().flatMap((row) => lines(row.dataset.by)).concat(listed("by"))),
    tool: new Set(rows().flatMap((row) => lines(row.dataset.tools)).concat(listed("tools"))),
    state: new Set(rows().flatMap(states).filter(Boolean).concat(listed("states"))),
  };
  for (const name of ["agent", "project"]) {
    if (table) values[name] = new Set(Array.from(table.tBodies[0].rows, (row) => valueOf(row, name)).filter(Boolean));
  }
  for (const select of [...filters, byId("agent"), byId("project")].filter(Boolean)) {
    const offered = values[select.id] ?? new Set();
    for (const value of [...offered].sort()) select.add(new Option(value, value));
    select.parentElement.hidden = offered.size < 2;
    select.addEventListener("change", () => { if (table) return searchRows(); filter(); search(); });
  }
  const sum = (count, ofRow) => rows().reduce((sum, row) => sum + ofRow(row), 0) +
    Array.from(later).reduce((sum, part) => sum + Number(part.dataset[count] ?? 0), 0);
  const numbers = table ? {} : {
    prompts: sum("prompts", (row) => Number(row.dataset.prompt !== undefined)),
    edits: sum("edits", (row) => Number(row.dataset.edits ?? 0)),
    failures: sum("failures", (row) => Number(row.dataset.failures ?? 0)),
    dropped: sum("dropped", (row) => states(row).filter((state) => state === "dropped").length),
  };
  for (const chip of chips) {
    chip.append(` ${figure.format(numbers[chip.id] ?? 0)}`);
    chip.hidden = !numbers[chip.id];
  }
  if (table) {
    // An index is written with the newest session first.
    list.tHead.querySelector("[data-column=begun]").setAttribute("aria-sort", "descending");
    for (const id of ["failures", "findings"]) {
      const chip = byId(id);
      const column = id === "failures" ? "failed" : id;
      const count = Array.from(table.tBodies[0].rows).filter((row) => Number(valueOf(row, column))).length;
      chip.textContent = `${id === "failures" ? "With failures" : "With findings"} ${figure.format(count)}`;
      chip.hidden = !count;
      if (id === "findings") chip.addEventListener("click", () => choose(chip));
    }
  }
  everything.hidden = chips.concat(byId("findings") ?? []).every((chip) => chip.hidden);
  fold.hidden = source.hidden = byId("keys").hidden = Boolean(table);
  if (!document.querySelector(".raw") && !later.size) source.hidden = true;
  // A phone has no room for the chips, and the filters of a list, beside the search.
  const narrow = matchMedia(table ? "(max-width: 76rem)" : "(max-width: 62rem)");
  const panel = menu.querySelector(".panel");
  const beside = [tools.querySelector(".chips"), ...["agent", "project"].map((id) => byId(id)?.parentElement)].filter(Boolean);
  const fit = () => {
    if (narrow.matches) panel.prepend(...beside); else menu.before(...beside);
    menu.hidden = Boolean(table) && !panel.querySelector(":is(button, label):not([hidden])");
  };
  narrow.addEventListener("change", fit);
  fit();
  tools.hidden = false;
  settleRail(document);
  later.forEach((part) => (sight ? sight.observe(part) : build(part)));
  if (location.hash) dispatchEvent(new HashChangeEvent("hashchange"));
  follow();
})();
