// The rows of a page: messages of the conversation, and sub-agents that no call shows. Those of a long page are built when they are
// needed, and filters hide some.
const rows = (() => {
  const { SLICE, byId, chosen, showTimes } = shared;
  const main = document.querySelector("main");
  const lines = (text) => (text ?? "").split("\n").filter(Boolean);

  // What is inside of a row is part of it.
  const isTop = (one) => !one.parentElement.closest("article, .agent");
  const topsIn = (root) => Array.from(root.querySelectorAll("article, .agent")).filter(isTop);
  let known = null;
  const all = () => (known ??= topsIn(document));
  // Rows that are not built are the text of the first element of a part.
  const later = new Set(document.querySelectorAll(".later"));
  const textOf = (part) => part.firstElementChild.textContent;
  const states = (row) => [row, ...row.querySelectorAll("[data-state]")].map((one) => one.dataset.state);
  function unfold(node) {
    for (let box = node; box; box = box.parentElement) if (box.localName === "details" && !box.matches(".raw")) box.open = true;
  }

  // Filters: a chip for what is asked for most, and lists for the rest
  const filters = ["by", "tool", "state"].map(byId).filter(Boolean);
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
  function filterRows(some, root) {
    const state = byId("state")?.value || (chosen() === "dropped" ? "dropped" : "");
    for (const row of some) {
      row.hidden = isFiltered(row);
      if (row.hidden) continue;
      // What is looked for may be folded.
      if (state) for (const result of row.querySelectorAll(`.result[data-state="${state}"]`)) unfold(result);
      if (chosen() === "failures") for (const call of row.querySelectorAll(".call.failed")) unfold(call);
    }
    for (const box of root.querySelectorAll(".looks")) {
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
  // Without messages a turn has no heading, and without the next message there is no gap before it.
  function filterHeadings() {
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
  function filter() {
    later.forEach(filterLater);
    main.dataset.by = byId("by").value;
    filterRows(all(), document);
    filterHeadings();
  }
  // The values of each filter, and how many rows or calls each chip shows, built or not.
  function valuesOf(name, ofRow) {
    return [...all().flatMap(ofRow), ...Array.from(later).flatMap((part) => lines(part.dataset[name]))];
  }
  const values = () => ({
    by: valuesOf("by", (row) => lines(row.dataset.by)),
    tool: valuesOf("tools", (row) => lines(row.dataset.tools)),
    state: valuesOf("states", (row) => states(row).filter(Boolean)),
  });
  function sum(count, ofRow) {
    const numbers = [...all().map(ofRow), ...Array.from(later, (part) => Number(part.dataset[count] ?? 0))];
    return numbers.reduce((total, number) => total + number, 0);
  }
  const counts = () => ({
    prompts: sum("prompts", (row) => Number(row.dataset.prompt !== undefined)),
    edits: sum("edits", (row) => Number(row.dataset.edits ?? 0)),
    failures: sum("failures", (row) => Number(row.dataset.failures ?? 0)),
    dropped: sum("dropped", (row) => states(row).filter((state) => state === "dropped").length),
  });

  // A button to copy code
  function offerCopies(root) {
    for (const pre of navigator.clipboard ? root.querySelectorAll(".chat pre, .part pre") : []) {
      if (pre.querySelector(".copy")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "Copy";
      pre.prepend(button);
    }
  }
  offerCopies(document);
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.(".copy");
    if (!button) return;
    const copy = button.parentElement.cloneNode(true);
    for (const extra of copy.querySelectorAll(".copy, .sign, .of")) extra.remove();
    await navigator.clipboard.writeText(copy.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });

  // Later rows of a long page are built when they come into sight, or when something in them is needed.
  const listeners = [];
  const onBuilt = (listener) => listeners.push(listener);
  let sight = null;
  function build(part) {
    if (!later.delete(part)) return;
    sight?.unobserve(part);
    part.innerHTML = textOf(part);
    part.classList.replace("later", "built");
    part.hidden = false;
    known = null;
    showTimes(part);
    offerCopies(part);
    filterRows(topsIn(part), part);
    if (isFiltering()) filterHeadings();
    for (const listener of listeners) listener(part);
  }
  const buildAll = () => later.forEach(build);
  const awaited = new Set();
  function buildSome() {
    const begun = performance.now();
    for (const part of awaited) {
      awaited.delete(part);
      build(part);
      if (performance.now() - begun > SLICE) break;
    }
    if (awaited.size) setTimeout(buildSome);
  }
  function buildSoon(parts) {
    if (!awaited.size && parts.length) setTimeout(buildSome);
    for (const part of parts) awaited.add(part);
  }
  function buildInSight() {
    if (!globalThis.IntersectionObserver) return buildAll();
    sight = new IntersectionObserver((seen) => buildSoon(seen.filter((one) => one.isIntersecting).map((one) => one.target)), { rootMargin: "1500px" });
    for (const part of later) sight.observe(part);
  }
  // The element of an id such as m12, which may be among rows that are not built yet.
  function find(id) {
    const built = byId(id);
    if (built) return built;
    for (const part of later) if (textOf(part).includes(` id="${id}"`)) build(part);
    return byId(id);
  }

  return { all, build, buildAll, buildInSight, counts, filter, find, isFiltered, isFiltering, isTop, later, onBuilt, states, textOf, unfold, values };
})();

