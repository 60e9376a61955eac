// The page of one transcript, or of several: its filters, folding, keys and paper.
(() => {
  const { byId, figure, followHash, isPressed, onChip, onKeys, onSelect, showTools } = shared;
  const { buildAll, buildInSight, counts, filter, later, onBuilt, values } = rows;
  const { alongChanges, alongFailures, copyLink, follow, goTo, settleRail, step, stepToPrompt, toggleHere } = moving;
  const { jump, searchFor, searchPage } = search;
  const [fold, source] = ["fold", "source"].map(byId);

  function show() {
    filter();
    follow();
    searchPage();
  }
  onChip(show);
  onSelect(values(), show);
  for (const [name, count] of Object.entries(counts())) {
    const chip = byId(name);
    chip?.append(` ${figure.format(count)}`);
    if (chip) chip.hidden = !count;
  }

  const FOLD = "Fold all";
  fold.addEventListener("click", () => {
    const open = fold.textContent !== FOLD;
    for (const box of document.querySelectorAll(".chat details:not(.raw)")) box.open = open;
    fold.textContent = open ? FOLD : "Unfold all";
  });
  onBuilt((part) => {
    if (fold.textContent === FOLD) for (const box of part.querySelectorAll("article details:not(.raw)")) box.open = true;
  });
  source.addEventListener("click", () => {
    source.setAttribute("aria-pressed", String(!isPressed(source)));
    document.body.classList.toggle("source", isPressed(source));
    for (const box of document.querySelectorAll(".raw")) box.open = isPressed(source);
  });
  source.hidden = !document.querySelector(".raw") && !later.size;
  onKeys({
    j: () => step(1),
    k: () => step(-1),
    J: () => stepToPrompt(1),
    K: () => stepToPrompt(-1),
    e: () => alongFailures(1),
    E: () => alongFailures(-1),
    d: () => alongChanges(1),
    D: () => alongChanges(-1),
    c: copyLink,
    n: () => jump(1),
    N: () => jump(-1),
    o: toggleHere,
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

  showTools("62rem");
  settleRail(document);
  buildInSight();
  followHash(searchFor, goTo);
  follow();
})();
