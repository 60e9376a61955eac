// What the page of a transcript and the index of many have in common: words, times, the list of transcripts, scrolling to an element,
// and the toolbar.
const shared = (() => {
  const byId = (id) => document.getElementById(id);
  const [tools, query, matches, help, menu, everything] = ["tools", "query", "matches", "help", "menu", "everything"].map(byId);
  const isPressed = (button) => button.getAttribute("aria-pressed") === "true";
  const say = (words) => { matches.textContent = words; };
  const figure = new Intl.NumberFormat("en-US");
  // Milliseconds of work after which the page answers: what takes longer is done piece by piece.
  const SLICE = 30;

  // Words in any case, wherever their lines end.
  const patternOf = (words) => new RegExp(words.split(/\s+/).map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("\\s+"), "gi");
  const has = (text, pattern) => text.search(pattern) >= 0;

  // Times in the zone of the reader
  const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
  const dayAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
  function showTimes(root) {
    for (const time of root.querySelectorAll("time")) {
      const at = new Date(time.dateTime);
      if (!Number.isNaN(at.getTime())) time.textContent = ({ alone: day, "": dayAndTime }[time.dataset.day] ?? clock).format(at);
    }
  }
  showTimes(document);

  // The list of transcripts, which a page of several transcripts has as well: a click on the name of a column sorts it.
  const list = document.querySelector(".list table");
  const heads = Array.from(list?.tHead.rows[0].cells ?? []);
  const columns = new Map(heads.map((head, nth) => [head.dataset.column, nth]));
  function valueOf(row, column) {
    const cell = row.cells[columns.get(column)];
    return cell.getAttribute("data-value") ?? cell.textContent.trim();
  }
  const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  function sortBy(head) {
    const falls = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls < 0 ? "descending" : "ascending");
    const keyed = Array.from(list.tBodies[0].rows, (row) => [valueOf(row, head.dataset.column), row]);
    const isNumber = keyed.every(([value]) => value === "" || !Number.isNaN(Number(value)));
    const compare = isNumber ? (one, other) => one - other : order.compare;
    keyed.sort(([one], [other]) => falls * compare(one, other));
    list.tBodies[0].append(...keyed.map(([, row]) => row));
  }
  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    // In a task of its own: the click is answered before all rows are drawn.
    button.addEventListener("click", () => setTimeout(sortBy, 0, head));
    head.replaceChildren(button);
  }

  // The height of what stays above a section while it scrolls.
  const barHeight = (section) => tools.offsetHeight * (getComputedStyle(tools).position === "sticky") + (section?.querySelector(".strip")?.offsetHeight ?? 0);
  // Scrolls to an element or a range. What comes into sight takes its real height, which moves everything below: scroll until nothing
  // moves any more.
  let settling = 0;
  function settle(target, block) {
    const turn = (settling += 1);
    const node = target instanceof Element ? target : target.startContainer.parentElement;
    const bar = barHeight(node.closest("section.session")) + 8;
    let left = 90;
    let still = 0;
    const scroll = () => {
      if (turn !== settling || !left) return;
      left -= 1;
      const box = target.getBoundingClientRect();
      const goal = block === "start" ? bar : Math.max(bar, (innerHeight - box.height) / 2);
      const before = scrollY;
      if (Math.abs(box.top - goal) > 1) scrollBy({ top: box.top - goal, behavior: "instant" });
      still = scrollY === before ? still + 1 : 0;
      if (still < 8) requestAnimationFrame(scroll);
    };
    scroll();
  }
  // A reader who scrolls decides.
  for (const kind of ["wheel", "touchmove", "pointerdown"]) addEventListener(kind, () => { settling += 1; }, { passive: true });

  // Calls `searchFor` with the words, or `goTo` with the id, that the address has after `#`: at once, and when it changes.
  function followHash(searchFor, goTo) {
    addEventListener("hashchange", () => {
      const name = decodeURIComponent(location.hash.slice(1));
      if (location.hash.startsWith("#q=")) searchFor(name.slice(2));
      else goTo(name);
    });
    document.addEventListener("click", (event) => {
      const link = event.target.closest?.("a[href^='#']");
      // A second click on the same link has no new hash.
      const id = link && (link.getAttribute("href") ?? "").slice(1);
      if (id && id === decodeURIComponent(location.hash.slice(1))) dispatchEvent(new HashChangeEvent("hashchange"));
    });
    if (location.hash) dispatchEvent(new HashChangeEvent("hashchange"));
  }

  // Searches soon after something is typed. Returns whether a search is due, and what begins it at once.
  function onTyping(search) {
    let timer = 0;
    const searchNow = () => { clearTimeout(timer); timer = 0; search(); };
    query.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(searchNow, 120); });
    query.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { query.value = ""; searchNow(); query.blur(); }
    });
    return { isDue: () => timer !== 0, searchNow };
  }

  // One chip is pressed: another click on it presses "Everything".
  const chips = Array.from(tools.querySelectorAll(".chip"));
  const chosen = () => chips.find((chip) => chip !== everything && isPressed(chip))?.id;
  function onChip(show) {
    for (const chip of chips) {
      chip.addEventListener("click", () => {
        const pressed = isPressed(chip) ? everything : chip;
        for (const other of chips) other.setAttribute("aria-pressed", String(other === pressed));
        show();
      });
    }
  }
  // Fills each list of the toolbar with its values; one without a choice is not shown.
  function onSelect(values, show) {
    for (const select of tools.querySelectorAll("select")) {
      const offered = new Set(values[select.id]);
      for (const value of [...offered].sort()) select.add(new Option(value, value));
      select.parentElement.hidden = offered.size < 2;
      select.addEventListener("change", show);
    }
  }

  // The menu, the help and the keys
  byId("keys").addEventListener("click", () => help.showModal());
  document.addEventListener("click", (event) => {
    if (menu.open && !menu.contains(event.target) && !event.target.closest?.(".chips, #help")) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { menu.open = false; menu.firstElementChild.focus(); }
  });
  function onKeys(more) {
    const keys = { ...more, "/": () => { query.focus(); query.select(); }, "?": () => help.showModal() };
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
      if (event.target.closest?.("input, select, textarea")) return;
      const key = keys[event.key];
      if (key) { event.preventDefault(); key(); }
    });
  }
  // Shows the toolbar. A window that is not wider than `width` has no room for the chips, and the filters of a list, beside the search.
  function showTools(width) {
    const narrow = matchMedia(`(max-width: ${width})`);
    const panel = menu.querySelector(".panel");
    const beside = [tools.querySelector(".chips"), ...["agent", "project"].map((id) => byId(id)?.parentElement)].filter(Boolean);
    const fit = () => {
      if (narrow.matches) panel.prepend(...beside); else menu.before(...beside);
      menu.hidden = !panel.querySelector(":is(button, label):not([hidden])");
    };
    everything.hidden = chips.every((chip) => chip === everything || chip.hidden);
    narrow.addEventListener("change", fit);
    fit();
    tools.hidden = false;
  }

  return {
    SLICE, barHeight, byId, chosen, figure, followHash, has, isPressed, list, onChip, onKeys, onSelect, onTyping, patternOf, query, say,
    settle, showTimes, showTools, valueOf,
  };
})();

