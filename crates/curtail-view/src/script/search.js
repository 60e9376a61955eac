// The search of a page: what a message shows, block by block, without its heading, numbers of tokens and notes. A link, a bold word or
// a color does not end a block. `searched.rs` reads the same texts for the search of an index.
const search = (() => {
  const { SLICE, byId, has, isPressed, onTyping, patternOf, query, say } = shared;
  const { find, isFiltered, isFiltering, later, textOf, unfold } = rows;
  const { go } = moving;
  const source = byId("source");
  // What ends a block: a character that no page contains.
  const BLOCK_END = "\x1f";
  const INLINE = new Set(["a", "b", "code", "del", "em", "ins", "s", "span", "strong", "time", "u"]);

  // The text of a message that is built, and where each of its nodes begins in it.
  function placesOfText(article) {
    const nodes = [];
    const skipped = `header, .tokens, .note, .copy, ${isPressed(source) ? ".md" : ".raw"}`;
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
    const ranges = [];
    let last = 0;
    const placeOf = (at, isEnd) => {
      while (nodes[last + 1] && nodes[last + 1].from + Number(isEnd) <= at) last += 1;
      return [nodes[last].node, at - nodes[last].from];
    };
    for (const { index, 0: words } of text.matchAll(pattern)) {
      if (ranges.length === 500) break;
      const range = new Range();
      range.setStart(...placeOf(index, false));
      range.setEnd(...placeOf(index + words.length, true));
      ranges.push(range);
    }
    return ranges;
  }

  // The text of HTML that is not built.
  const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"' };
  function strip(html) {
    const hidden = isPressed(source) ? /<div class="md"[^]*?<details class="raw">/g : /<details class="raw">[^]*?<\/details>/g;
    return html.replace(hidden, BLOCK_END).replace(/<header>[^]*?<\/header>|<span class="tokens"[^]*?<\/span>|<p class="note">[^]*?<\/p>/g, BLOCK_END).replaceAll("<br>", "\n")
      .replace(/<\/?(\w+)[^>]*>/g, (_, name) => (INLINE.has(name) ? "" : BLOCK_END)).replace(/&(amp|lt|gt|quot);/g, (_, name) => ENTITIES[name]);
  }
  // The messages in it, each without those inside of it.
  function splitMessages(html) {
    const all = [];
    const open = [];
    let from = 0;
    for (const tag of html.matchAll(/<(?:\/article>|article )/g)) {
      if (open.length) open.at(-1).html += html.slice(from, tag.index) + BLOCK_END;
      if (tag[0].startsWith("</")) open.pop();
      else { open.push({ html: "", outer: open[0] }); all.push(open.at(-1)); }
      from = tag.index;
    }
    return all.map(({ html, outer }) => ({ head: (outer?.html ?? html).match(/^<\w+ [^>]*>/)?.[0] ?? "", id: html.match(/ id="([^"]+)"/)?.[1], text: strip(html) }));
  }
  const split = { shown: new WeakMap(), source: new WeakMap() };
  function messagesIn(part) {
    const known = split[isPressed(source) ? "source" : "shown"];
    if (!known.has(part)) known.set(part, splitMessages(textOf(part)));
    return known.get(part);
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

  // A search: the elements to look through and how far it is, the messages it found, the number of the one it is at, the ranges of the
  // words in that one, the number of the current range, and the jump that waits for a message.
  const begin = (words, elements) => ({ words, pattern: patternOf(words), elements, at: 0, found: [], match: -1, ranges: [], place: -1, waiting: 0 });
  let current = begin("", []);
  const isDone = () => current.at >= current.elements.length;
  // The words of the address, which an index was searched for.
  let linked = null;
  function tell() {
    const { found, match, ranges, place } = current;
    say(`${match + 1} of ${found.length}${isDone() ? "" : " …"}` + (ranges.length > 1 ? `, ${place + 1} of ${ranges.length} here` : ""));
  }
  function tellFound() {
    const { found, match, words } = current;
    if (isDone() && !found.length && words === linked) say("only in a text that is not on this page (--max-text)");
    else if (match < 0) say(`${found.length === 1 ? "1 message" : `${found.length} messages`}${isDone() ? "" : " …"}`);
    else if (isDone()) tell();
  }
  function highlight(name, ranges) {
    if (globalThis.CSS?.highlights && typeof Highlight === "function") CSS.highlights.set(name, new Highlight(...ranges));
  }
  // To the next message that was found, or the one before.
  function step(by) {
    const { found, match, pattern } = current;
    current.match = match < 0 && by < 0 ? found.length - 1 : (match + by + found.length) % found.length;
    const one = found[current.match];
    one.article ??= find(one.id);
    current.ranges = one.article ? rangesOf(one.article, pattern) : [];
    current.place = by < 0 ? current.ranges.length - 1 : 0;
    for (const range of current.ranges.slice(0, 50)) unfold(range.startContainer.parentElement);
    highlight("found", current.ranges);
  }
  // To the next place of the words: in this message, or else in the next one that has them.
  function jump(by) {
    if (!current.found.length) { current.waiting = by; return; }
    current.place += by;
    if (current.place < 0 || current.place >= current.ranges.length) step(by);
    const range = current.ranges[current.place];
    if (range) unfold(range.startContainer.parentElement);
    highlight("match", range ? [range] : []);
    go(current.found[current.match].article, range);
    tell();
  }
  function look(one) {
    const { found, pattern } = current;
    if (later.has(one)) found.push(...foundIn(one, pattern));
    else if (one.localName === "article" && has(one.textContent, pattern) && !one.closest("[hidden]") && has(placesOfText(one).text, pattern)) found.push({ article: one });
  }
  // Looks through some of the elements, and later through the rest, unless another search began.
  function scan(begun) {
    if (begun !== current) return;
    const start = performance.now();
    for (; !isDone() && performance.now() - start < SLICE; current.at += 1) look(current.elements[current.at]);
    if (current.waiting && current.found.length) {
      const by = current.waiting;
      current.waiting = 0;
      jump(by);
    } else {
      tellFound();
    }
    if (!isDone()) setTimeout(scan, 0, begun);
  }
  function searchPage() {
    const words = query.value.trim();
    current = begin(words, words ? Array.from(document.querySelectorAll("article, .later[data-rows]")) : []);
    for (const name of ["found", "match"]) globalThis.CSS?.highlights?.delete(name);
    if (words) scan(current);
    else say("");
  }
  function searchFor(words) {
    query.value = linked = words;
    searchPage();
    jump(1);
  }
  const { isDue, searchNow } = onTyping(searchPage);
  query.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (isDue() || current.match < 0 && !current.waiting) searchNow();
    jump(event.shiftKey ? -1 : 1);
  });

  return { jump, searchFor, searchPage };
})();

