"use strict";
(() => {
  const tools = document.getElementById("tools");
  const query = document.getElementById("query");
  const matches = document.getElementById("matches");
  const help = document.getElementById("help");
  const fold = document.getElementById("fold");
  const filters = ["by", "tool", "state"].map((name) => document.getElementById(name)).filter(Boolean);
  let known = null;
  const articles = () => (known ??= Array.from(document.querySelectorAll("article")));
  const shown = () => articles().filter((article) => !article.hidden);
  const lines = (text) => (text ?? "").split("\n").filter(Boolean);
  const main = document.querySelector("main");
  const only = document.getElementById("prompts");
  const source = document.getElementById("source");
  let here = null;
  let found = [];
  let match = -1;
  // The places of the words in the message of the match, and the current one.
  let ranges = [];
  let place = -1;

  // Times in the zone of the reader, and a button to copy code.
  const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
  const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  function dress(root) {
    for (const time of root.querySelectorAll("time")) {
      const at = new Date(time.dateTime);
      if (!Number.isNaN(at.getTime())) time.textContent = (time.dataset.day === undefined ? clock : day).format(at);
    }
    for (const pre of navigator.clipboard ? root.querySelectorAll(".chat pre, .part pre") : []) {
      if (pre.querySelector(".copy")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "Copy";
      pre.append(button);
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
  const textOf = (rows) => rows.firstElementChild.textContent;
  function build(rows) {
    if (!later.delete(rows)) return;
    sight?.unobserve(rows);
    rows.innerHTML = textOf(rows);
    rows.classList.remove("later");
    rows.hidden = false;
    known = null;
    dress(rows);
    for (const article of rows.querySelectorAll("article")) article.hidden = isFiltered(article);
    if (fold.textContent === "Fold all") for (const box of rows.querySelectorAll("article details:not(.raw)")) box.open = true;
  }
  const buildAll = () => later.forEach(build);
  const sight = globalThis.IntersectionObserver && new IntersectionObserver(
    (seen) => seen.filter((one) => one.isIntersecting).forEach((one) => build(one.target)), { rootMargin: "1500px" });
  later.forEach((rows) => (sight ? sight.observe(rows) : build(rows)));
  // The element of an id such as m12, which may be among rows that are not built yet.
  function find(id) {
    const known = document.getElementById(id);
    if (known) return known;
    for (const rows of later) if (textOf(rows).includes(` id="${id}"`)) build(rows);
    return document.getElementById(id);
  }

  // Filters
  const listed = (name) => Array.from(later).flatMap((rows) => lines(rows.dataset[name]));
  const states = (article) => [article, ...article.querySelectorAll("[data-state]")].map((one) => one.dataset.state);
  const values = {
    by: new Set(articles().flatMap((article) => lines(article.dataset.by)).concat(listed("by"))),
    tool: new Set(articles().flatMap((article) => lines(article.dataset.tools)).concat(listed("tools"))),
    state: new Set(articles().flatMap(states).concat(listed("states"))),
  };
  for (const select of filters) {
    for (const value of [...values[select.id]].sort()) select.add(new Option(value, value));
    select.parentElement.hidden = values[select.id].size < 2;
    select.addEventListener("change", () => { filter(); search(); });
  }
  only.hidden = values.by.size < 2;
  source.hidden = !document.querySelector(".raw") && !later.size;
  const isPressed = (button) => button.getAttribute("aria-pressed") === "true";
  const press = (button) => button.setAttribute("aria-pressed", String(!isPressed(button)));
  only.addEventListener("click", () => { press(only); filter(); search(); });
  source.addEventListener("click", () => {
    press(source);
    document.body.classList.toggle("source", isPressed(source));
    for (const box of document.querySelectorAll(".raw")) box.open = isPressed(source);
  });
  function isFiltered(article) {
    const chosen = Object.fromEntries(filters.map((select) => [select.id, select.value]));
    return (isPressed(only) && article.dataset.prompt === undefined) ||
      (chosen.by && !lines(article.dataset.by).includes(chosen.by)) ||
      (chosen.state && !states(article).includes(chosen.state)) ||
      (chosen.tool && !lines(article.dataset.tools).includes(chosen.tool)) || false;
  }
  // Rows that are not built are hidden if no message in them is shown; the others are built in sight, and take less room.
  function filterLater(rows) {
    const chosen = filters.filter((select) => select.value);
    const lists = { by: "by", tool: "tools", state: "states" };
    const prompts = Number(rows.dataset.prompts);
    rows.hidden = (isPressed(only) && !prompts) ||
      chosen.some((select) => !lines(rows.dataset[lists[select.id]]).includes(select.value));
    rows.style.setProperty("--rows", isPressed(only) ? prompts : rows.dataset.rows);
  }
  function filter() {
    later.forEach(filterLater);
    const { by, state } = Object.fromEntries(filters.map((select) => [select.id, select.value]));
    main.dataset.by = by;
    for (const article of articles()) {
      article.hidden = isFiltered(article);
      // What is looked for may be the result of a call that is folded.
      if (!article.hidden && state) {
        for (const result of article.querySelectorAll(`.result[data-state="${state}"]`)) unfold(result);
      }
    }
    headings();
  }
  // Without messages a turn has no heading, and without the next message there is no gap before it.
  function headings() {
    let turn = null;
    let gaps = [];
    for (const row of document.querySelectorAll(".chat :is(h2.turn, .gap, article)")) {
      if (row.localName === "article") {
        for (const gap of gaps) gap.hidden = row.hidden;
        gaps = [];
        if (turn && !row.hidden) turn.hidden = false;
      } else if (row.matches(".gap")) {
        gaps.push(row);
      } else {
        turn = row;
        turn.hidden = filters.some((select) => select.value) || isPressed(only);
      }
    }
  }

  // The list of transcripts: a click on the name of a column sorts it, and the search of an index leaves out rows.
  const table = document.querySelector(".list table");
  const isIndex = table && !document.querySelector("section.session");
  fold.hidden = Boolean(isIndex);
  const valueOf = (row, at) => row.cells[at].dataset.value ?? row.cells[at].textContent.trim();
  function sortBy(head, at) {
    const falls = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls < 0 ? "descending" : "ascending");
    const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
    const rows = Array.from(table.tBodies[0].rows);
    rows.sort((one, other) => falls * order.compare(valueOf(one, at), valueOf(other, at)));
    table.tBodies[0].append(...rows);
  }
  for (const [at, head] of Array.from(table?.tHead.rows[0].cells ?? []).entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sortBy(head, at));
    head.replaceChildren(button);
  }
  function searchRows(words) {
    const rows = Array.from(table.tBodies[0].rows);
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(words);
    const left = rows.filter((row) => !row.hidden).length;
    matches.textContent = words ? `${left} of ${rows.length}` : "";
  }

  // Moving
  function go(article, target = article) {
    if (!article) return;
    here?.classList.remove("here");
    here = article;
    article.classList.add("here");
    settle(target, target === article || target instanceof Element ? "start" : "center");
  }
  // What comes into sight takes its real height, which moves everything below: scroll until nothing moves any more.
  let settling = 0;
  function settle(target, block) {
    const turn = (settling += 1);
    // Below the controls, which stay in sight.
    const bar = (getComputedStyle(tools).position === "sticky" ? tools.offsetHeight : 0) + 6;
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
  function step(by) {
    let all = Array.from(document.querySelectorAll("article, .later"));
    let at = here ? all.indexOf(here) : -1;
    if (at < 0) {
      const line = tools.offsetHeight + 8;
      at = all.findIndex((article) => !article.hidden && article.getBoundingClientRect().bottom > line) - (by > 0 ? 1 : 0);
    }
    for (at += by; at >= 0 && at < all.length; at += by) {
      if (later.has(all[at]) && !all[at].hidden) {
        const count = all.length;
        build(all[at]);
        all = Array.from(document.querySelectorAll("article, .later"));
        if (by < 0) at += all.length - count;
      }
      if (!all[at].hidden) {
        go(all[at]);
        // Tab goes on from here.
        here.tabIndex = -1;
        here.focus({ preventScroll: true });
        return;
      }
    }
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
    const target = find(decodeURIComponent(location.hash.slice(1)));
    const article = target?.closest("article");
    if (article) {
      article.hidden = false;
      unfold(target);
      go(article, target);
      article.tabIndex = -1;
      article.focus({ preventScroll: true });
    } else if (target) {
      settle(target, "start");
    }
  });
  if (location.hash) dispatchEvent(new HashChangeEvent("hashchange"));
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    // A second click on the same link has no new hash.
    const id = link && (link.getAttribute("href") ?? "").slice(1);
    if (id && id === decodeURIComponent(location.hash.slice(1))) dispatchEvent(new HashChangeEvent("hashchange"));
  });

  // Searching
  function textNodes(article, words) {
    // Of a Markdown text and its source, one is shown.
    const unseen = isPressed(source) ? ".md, .copy" : ".raw, .copy";
    const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (node.data.toLowerCase().includes(words) && !node.parentElement.closest(unseen)) nodes.push(node);
    }
    return nodes;
  }
  function rangesOf(article, words) {
    const all = [];
    for (const node of textNodes(article, words)) {
      const text = node.data.toLowerCase();
      if (text.length !== node.data.length) continue;
      for (let at = text.indexOf(words); at >= 0 && all.length < 500; at = text.indexOf(words, at + words.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + words.length);
        all.push(range);
      }
    }
    return all;
  }
  function search() {
    const words = query.value.trim().toLowerCase();
    if (isIndex) return searchRows(words);
    const escaped = words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    const spelt = [escaped, escaped.replaceAll('"', "&quot;")];
    if (words) for (const rows of later) {
      if (rows.hidden) continue;
      const text = textOf(rows).toLowerCase();
      if (spelt.some((one) => text.includes(one))) build(rows);
    }
    found = words ? shown().filter((article) => article.textContent.toLowerCase().includes(words)) : [];
    match = -1;
    ranges = [];
    place = -1;
    matches.textContent = words ? (found.length === 1 ? "1 message" : `${found.length} messages`) : "";
    for (const name of ["found", "match"]) globalThis.CSS?.highlights?.delete(name);
  }
  // To the next place of the words: in this message, or else in the next one that has them.
  function jump(by) {
    if (!found.length) return;
    place += by;
    if (place < 0 || place >= ranges.length) {
      match = match < 0 && by < 0 ? found.length - 1 : (match + by + found.length) % found.length;
      ranges = rangesOf(found[match], query.value.trim().toLowerCase());
      place = by < 0 ? ranges.length - 1 : 0;
      for (const range of ranges.slice(0, 50)) unfold(range.startContainer.parentElement);
      highlight("found", ranges);
    }
    const range = ranges[place];
    if (range) unfold(range.startContainer.parentElement);
    highlight("match", range ? [range] : []);
    go(found[match], range);
    matches.textContent = `${match + 1} of ${found.length}` + (ranges.length > 1 ? `, ${place + 1} of ${ranges.length} here` : "");
  }
  function highlight(name, all) {
    if (globalThis.CSS?.highlights && typeof Highlight === "function") CSS.highlights.set(name, new Highlight(...all));
  }
  let timer = 0;
  const searchNow = () => { clearTimeout(timer); timer = 0; search(); };
  query.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(searchNow, 120); });
  query.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      if (timer || match < 0) searchNow();
      jump(event.shiftKey ? -1 : 1);
    }
    if (event.key === "Escape") { query.value = ""; searchNow(); query.blur(); }
  });

  // Folding and keys
  fold.addEventListener("click", () => {
    const open = fold.textContent === "Unfold all";
    for (const box of document.querySelectorAll("article details:not(.raw)")) box.open = open;
    fold.textContent = open ? "Fold all" : "Unfold all";
  });
  document.getElementById("keys").addEventListener("click", () => help.showModal());
  const keys = {
    j: () => step(1),
    k: () => step(-1),
    n: () => jump(1),
    N: () => jump(-1),
    o: () => {
      const boxes = here?.querySelectorAll("details:not(.raw)") ?? [];
      const open = Array.from(boxes).some((box) => !box.open);
      for (const box of boxes) box.open = open;
    },
    "/": () => { query.focus(); query.select(); },
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (event.target.closest?.("input, select, textarea")) return;
    const key = keys[event.key];
    if (key) { event.preventDefault(); key(); }
  });
  // On paper nothing folds; afterwards the page is as it was.
  let opened = [];
  addEventListener("beforeprint", () => {
    buildAll();
    opened = Array.from(document.querySelectorAll("article details:not(.raw, [open]), .prompts details:not([open])"));
    for (const box of opened) box.open = true;
  });
  addEventListener("afterprint", () => {
    for (const box of opened) box.open = false;
    opened = [];
  });
  tools.hidden = false;
})();
