// Every number links to #cells?<filters>; this lists the queries behind it. The page says the same without it.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("cells-data").textContent);
  const dialog = document.getElementById("cells");
  const [title, list, more] = ["h2", "tbody", "button.more"].map((q) => dialog.querySelector(q));
  const axes = Object.keys(data.strata);
  const STEP = 100;
  const flags = { picks: (c) => data.queries[c[1]][3], reached: (c) => c[5], lifted: (c) => c[6], loc: (c) => c[7] };
  const texts = {
    source: (c) => data.sources[c[0]],
    label: (c) => data.labels[c[3]],
    stage: (c) => data.stages[c[4]],
    episode: (c) => data.queries[c[1]][0],
    house: (c) => data.queries[c[1]][0].split("__")[0],
    plan: (c) => (c[2] < 0 ? "" : data.plans[c[2]][0]),
    rollout: (c) => (c[2] < 0 ? "" : String(data.plans[c[2]][3])),
  };
  axes.forEach((axis, i) => (texts[axis] = (c) => data.strata[axis][data.queries[c[1]][4 + i]]));

  const matches = (cell, filters) =>
    filters.every(([name, value]) => (name in flags ? flags[name](cell) === Number(value) : texts[name](cell) === value));

  // queries at which one source succeeded and the other did not, and both have a verdict
  function onlyOne({ won, lost, metric }) {
    const flag = metric === "sr_b" ? flags.reached : flags.lifted;
    const of = (source) => data.cells.filter((c) => texts.source(c) === source);
    const failed = new Set(of(lost).filter((c) => flag(c) === 0).map((c) => c[1]));
    return of(won).filter((c) => flag(c) === 1 && failed.has(c[1]));
  }

  // a rollout is one, however many answers led to it
  const once = (cells) => [...new Map(cells.map((c) => [c[2], c])).values()];

  function element(name, content, attributes = {}) {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...[content].flat());
    return made;
  }

  function row(cell) {
    const [episode, query, text] = data.queries[cell[1]];
    const [key, places, video] = cell[2] < 0 ? ["", "–", ""] : data.plans[cell[2]];
    const folder = `episodes/${encodeURIComponent(episode)}`;
    const page = key ? `${folder}/${encodeURIComponent(key)}.html` : `${folder}.html`;
    const film = video ? element("a", "video", { href: "../" + video.split("/").map(encodeURIComponent).join("/") }) : "";
    const label = data.labels[cell[3]];
    const fate = element("span", label.replaceAll("_", " ").replace(".", ": "), { className: label.split(".")[0] });
    const question = element("a", text || query, { href: page });
    const where = element("small", `${episode} ${query}`);
    return element("tr", [element("td", [question, element("br", []), where]), ...[texts.source(cell), places, fate, film].map((v) => element("td", v))]);
  }

  function show() {
    if (!location.hash.startsWith("#cells?")) return dialog.open && dialog.close();
    const filters = [...new URLSearchParams(location.hash.slice(7))];
    const asked = Object.fromEntries(filters);
    const known = filters.every(([name]) => name in flags || name in texts) || "won" in asked;
    const listed = !known ? [] : "won" in asked ? onlyOne(asked) : data.cells.filter((c) => matches(c, filters));
    const found = "rollout" in asked ? once(listed) : listed;
    title.textContent = `${found.length} ${found.length === 1 ? "answer" : "answers"}`;
    dialog.querySelector("p").textContent = filters.map(([name, value]) => `${name.replace("_", " ")}: ${value}`).join(" · ");
    let shown = 0;
    const next = () => {
      list.append(...found.slice(shown, shown + STEP).map(row));
      shown += STEP;
      more.hidden = shown >= found.length;
    };
    list.replaceChildren();
    more.onclick = next;
    next();
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  }

  dialog.addEventListener("close", () => {
    if (location.hash.startsWith("#cells?")) history.replaceState(null, "", location.pathname + location.search);
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  window.addEventListener("hashchange", show);
  show();
})();
