// Which documents are chosen, over the pages of a tab, and the bar that acts on them.
(function (H) {
  "use strict";

  const ACTS = {
    pending: ["approve", "reject", "archive"],
    flagged: ["approve", "keep", "archive"],
    archived: ["restore"],
  };
  const KEYS = { approve: "a", archive: "e", restore: "r", keep: "f", reject: "r", rewrite: "w" };

  H.actsOf = (tab) => ACTS[tab] || [];
  H.keyOf = (action) => KEYS[action];

  H.newSelection = function (tab, onchange) {
    const chosen = new Map();
    let last = ""; // where a range starts

    const selection = {
      has: (id) => chosen.has(id),
      get size() { return chosen.size; },
      documents: () => [...chosen.values()],
      set(document, on) {
        if (on) chosen.set(document.document_id, document);
        else chosen.delete(document.document_id);
        last = document.document_id;
        onchange();
      },
      // From the last one that was chosen or left to this one, in the order of the page.
      range(rows, document, on) {
        const from = rows.findIndex((row) => row.document_id === last);
        const to = rows.findIndex((row) => row.document_id === document.document_id);
        if (from < 0) return selection.set(document, on);
        for (const row of rows.slice(Math.min(from, to), Math.max(from, to) + 1)) {
          if (on) chosen.set(row.document_id, row);
          else chosen.delete(row.document_id);
        }
        last = document.document_id;
        return onchange();
      },
      all(rows, on) {
        for (const row of rows) {
          if (on) chosen.set(row.document_id, row);
          else chosen.delete(row.document_id);
        }
        onchange();
      },
      drop(ids) {
        for (const id of ids) chosen.delete(id);
        onchange();
      },
      clear() {
        chosen.clear();
        onchange();
      },
    };
    return selection;
  };

  H.drawBar = function (tab, selection) {
    const bar = H.byId("bar");
    bar.hidden = !selection || selection.size === 0;
    document.body.classList.toggle("has-bar", !bar.hidden);
    if (bar.hidden) return bar.replaceChildren();
    const held = bar.contains(document.activeElement) ? document.activeElement.dataset.act : "";
    bar.replaceChildren(
      H.node("p", { role: "status" }, H.node("strong", {}, selection.size.toLocaleString("en")), " selected"),
      ...H.actsOf(tab).map((action, place) =>
        H.button(H.named("action", action), () => H.act(action, selection.documents()), {
          class: `button ${place === 0 ? "primary" : ""}`, "data-act": action, "aria-keyshortcuts": KEYS[action],
        })),
      H.button("Clear", () => selection.clear(), { class: "button bare", "data-act": "clear" }),
    );
    const again = held && bar.querySelector(`[data-act=${held}]`);
    if (again) again.focus();
    return bar;
  };
})((window.Harry = window.Harry || {}));
