// Where the reader is: the message that keys, links and the search go to, and what of the conversation is in sight, which the strip and
// the prompts tell.
const moving = (() => {
  const { barHeight, byId, say, settle } = shared;
  const { all, build, find, isTop, later, onBuilt, states, unfold } = rows;

  // The frame in the strip of a section, and its blocks and prompts by their messages.
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
  function lastUntil(sorted, message) {
    let [from, to] = [0, sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (sorted[middle].message <= message) from = middle + 1; else to = middle;
    }
    return sorted[from - 1];
  }
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
  function showFrame({ frame, blocks }, first, last) {
    const [from, to] = [lastUntil(blocks, first.message), lastUntil(blocks, last.message)];
    if (!from || !to) return;
    const width = Math.max(0.8, (to.left + to.width - from.left) / 1000);
    frame.style.left = `${Math.min(from.left / 1000, 100 - width)}%`;
    frame.style.width = `${width}%`;
  }
  function showPrompt(place, message) {
    const now = lastUntil(place.prompts, message)?.item ?? null;
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
  }
  function showPlace() {
    const sections = Array.from(document.querySelectorAll("section.session"));
    const section = sections.findLast((one) => one.getBoundingClientRect().top < innerHeight / 2) ?? sections[0];
    const place = section && places(section);
    if (!place) return;
    const first = inSight(section, barHeight(section) + 12, 24);
    const last = first && inSight(section, innerHeight - 12, -24);
    place.frame.hidden = !first;
    if (!first) return;
    showFrame(place, first, last ?? first);
    showPrompt(place, first.message);
  }
  let following = 0;
  function follow() {
    following ||= requestAnimationFrame(() => { following = 0; showPlace(); });
  }
  addEventListener("scroll", follow, { passive: true });
  addEventListener("resize", follow, { passive: true });
  // Where the prompts are above the conversation, many of them are folded.
  function settleRail(root) {
    if (!matchMedia("(max-width: 62rem)").matches) return;
    for (const box of root.querySelectorAll(".prompts > details")) box.open = box.querySelectorAll("li").length <= 8;
  }
  onBuilt((part) => { settleRail(part); follow(); });
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

  // To a row, or to what is inside of it.
  let here = null;
  function go(row, target = row) {
    if (!row) return;
    here?.classList.remove("here");
    here = row;
    row.classList.add("here");
    settle(target, target instanceof Element ? "start" : "center");
  }
  // Tab goes on from there.
  function focus(row) {
    row.tabIndex = -1;
    row.focus({ preventScroll: true });
  }
  function goTo(id) {
    const target = find(id);
    const article = target?.closest("article");
    if (article) {
      const row = all().find((one) => one.contains(article)) ?? article;
      row.hidden = false;
      unfold(target);
      go(article, target);
      focus(article);
    } else if (target) {
      settle(target, "start");
    }
  }
  // Where j and k stop: a line that stands for several messages is one place while it is folded.
  function stops() {
    const isStop = (one) => (one.matches(".looks") ? !one.open : !one.parentElement.matches(".looks:not([open])")) && isTop(one);
    return Array.from(document.querySelectorAll("article, .agent, .later[data-rows], .looks")).filter(isStop);
  }
  // To the next row that is `wanted`; `count` is the name of their number among rows that are not built. Returns the row.
  function step(by, wanted = () => true, count = "rows") {
    let some = stops();
    let at = here ? some.indexOf(here.closest(".looks:not([open])") ?? here) : -1;
    if (at < 0) {
      const line = barHeight(document.querySelector("section.session")) + 8;
      at = some.findIndex((row) => !row.hidden && row.getBoundingClientRect().bottom > line) - (by > 0 ? 1 : 0);
    }
    for (at += by; at >= 0 && at < some.length; at += by) {
      if (later.has(some[at])) {
        if (some[at].hidden || !Number(some[at].dataset[count])) continue;
        const length = some.length;
        build(some[at]);
        some = stops();
        if (by < 0) at += some.length - length;
        if (later.has(some[at]) || !some[at]) continue;
      }
      if (!some[at].hidden && wanted(some[at])) {
        go(some[at]);
        focus(here);
        return here;
      }
    }
    return null;
  }
  const stepToPrompt = (by) => step(by, (row) => row.dataset.prompt !== undefined, "prompts");
  // Along what is inside of messages: first in this one, then in the next one that has any.
  function along(by, inside, count, words) {
    const spots = here ? Array.from(here.querySelectorAll(inside)) : [];
    const at = spots.findIndex((one) => one.classList.contains("spot"));
    const next = at < 0 && here ? null : spots[at + by];
    document.querySelector(".spot")?.classList.remove("spot");
    const row = next ? here : step(by, (row) => row.querySelector(inside) !== null, count);
    if (!row) return say(by > 0 ? `no ${words} below` : `no ${words} above`);
    const target = next ?? Array.from(row.querySelectorAll(inside)).at(by > 0 ? 0 : -1);
    target.classList.add("spot");
    unfold(target);
    // The error of a long call would be out of sight.
    const error = target.matches(".failed") && target.offsetHeight > innerHeight / 2 && target.querySelector(":scope > .result");
    go(row, error || target);
    say("");
  }
  const alongFailures = (by) => along(by, ".call.failed", "failures", "failed call");
  const hasPolicy = byId("dropped") !== null;
  function alongChanges(by) {
    if (!hasPolicy) return along(by, ".call.edit:not(.failed)", "edits", "edit");
    if (!step(by, (row) => states(row).some((state) => state && state !== "kept"), "rows")) say("nothing dropped or changed");
  }
  function toggleHere() {
    const boxes = here ? [here, ...here.querySelectorAll("details:not(.raw)")].filter((box) => box.localName === "details") : [];
    const open = boxes.some((box) => !box.open);
    for (const box of boxes) box.open = open;
  }
  async function copyLink() {
    const article = here?.closest("article") ?? here?.querySelector("article");
    if (!article?.id || !navigator.clipboard) return;
    const link = new URL(location.href);
    link.hash = article.id;
    await navigator.clipboard.writeText(link.href);
    say("link copied");
  }

  return { alongChanges, alongFailures, copyLink, follow, go, goTo, settleRail, step, stepToPrompt, toggleHere };
})();

