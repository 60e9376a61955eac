// The index of many sessions: the search and the filters leave out rows of the list, and sum up those that are left.
(() => {
  const { SLICE, byId, chosen, figure, followHash, has, list, onChip, onKeys, onSelect, onTyping, patternOf, query, say, settle, showTools, valueOf } = shared;
  const allRows = () => Array.from(list.tBodies[0].rows);
  // The column of the number that a chip asks for.
  const COLUMNS = { failures: "failed", findings: "findings" };

  // The texts of all sessions are in files beside the index, which are loaded when somebody searches. In them, characters that no page
  // contains end a session and a message.
  const [SESSION_END, MESSAGE_END] = ["\x1d", "\x1e"];
  const packed = [];
  globalThis.curtailTexts = (links, data) => packed.push({ links, data });
  const textsOf = new Map();
  let isIncomplete = false;
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
  async function readFiles() {
    for (let file = 1; file <= Number(list.dataset.texts); file += 1) {
      if (!(await loadScript(`search-${file}.js`))) isIncomplete = true;
      for (const block of packed.splice(0)) await unpack(block);
    }
  }
  let reading = null;
  const readTexts = () => (reading ??= readFiles());

  // The words from one place to another, and those before and after them in their block.
  function around(text, from, to) {
    const before = text.slice(Math.max(0, from - 60), from).match(/[^\x1d-\x1f]*$/)[0];
    const after = text.slice(to, to + 60).match(/^[^\x1d-\x1f]*/)[0];
    return [before.length === 60 ? `…${before.replace(/^\S*\s/, "")}` : before, text.slice(from, to), after.length === 60 ? `${after.replace(/\s\S*$/, "")}…` : after];
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

  const sums = Array.from(document.querySelectorAll("#sums [data-sum]"));
  const money = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
  const dollars = (amount) => (amount > 0 && amount < 0.01 ? "<$0.01" : money.format(amount));
  function showSums(totals) {
    for (const [nth, sum] of sums.entries()) {
      sum.querySelector("b").textContent = (sum.dataset.sum === "cost" ? dollars : figure.format)(totals[nth]);
    }
  }

  let searching = 0;
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
    const all = allRows();
    const needs = ["agent", "project"].map((name) => [name, byId(name).value]).filter(([, value]) => value);
    const column = COLUMNS[chosen()];
    // Whoever comes back from a page finds the list as it was.
    history.replaceState(null, "", words ? `#q=${encodeURIComponent(words)}` : location.href.split("#")[0]);
    if (words) {
      say("searching …");
      await readTexts();
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
        Boolean(column && !Number(valueOf(row, column)));
      tellHit(row, hits.get(row), words);
      if (row.hidden) return;
      shown += 1;
      for (const [nth, { dataset: { sum } }] of sums.entries()) totals[nth] += sum === "transcripts" ? 1 : Number(valueOf(row, sum));
    }, 1000);
    if (!isDone) return;
    const missing = words && isIncomplete ? "; only this list was searched, because search-*.js is not beside it" : "";
    say((words || shown < all.length ? `${shown} of ${all.length}` : "") + missing);
    showSums(totals);
  }
  function searchFor(words) {
    query.value = words;
    searchRows();
  }
  function goTo(id) {
    const target = byId(id);
    if (target) settle(target, "start");
  }

  query.addEventListener("focus", readTexts);
  onTyping(searchRows);
  onChip(searchRows);
  onSelect(Object.fromEntries(["agent", "project"].map((name) => [name, allRows().map((row) => valueOf(row, name)).filter(Boolean)])), searchRows);
  // An index is written with the newest session first.
  list.tHead.querySelector("[data-column=begun]").setAttribute("aria-sort", "descending");
  for (const [name, column] of Object.entries(COLUMNS)) {
    const count = allRows().filter((row) => Number(valueOf(row, column))).length;
    byId(name).textContent = `With ${name} ${figure.format(count)}`;
    byId(name).hidden = !count;
  }
  onKeys({});
  for (const name of ["fold", "source", "keys"]) byId(name).hidden = true;
  showTools("76rem");
  followHash(searchFor, goTo);
})();
