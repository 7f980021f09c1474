// One document as a row of the queue.
(function (H) {
  "use strict";

  // The kinds of signals that are open, each once; those that a curator looked at since are left out.
  const kinds = (document) => {
    const open = document.signals.filter((each) => !each.settled);
    return [...new Set((open.length ? open : document.signals).map((each) => each.signal))];
  };

  function why(document) {
    const first = document.signals.find((each) => !each.settled) || document.signals[0];
    if (first) return H.sentence(first.why);
    if (document.last_action) return H.sentence(`${H.done(document.last_action)} ${H.ago(document.last_action_at)}`);
    return document.url || document.source;
  }

  H.row = function (document, { selected, toggle, open }) {
    const id = document.document_id;
    const box = H.node("input", {
      type: "checkbox", checked: selected, "aria-label": `Select ${document.title}`,
      onclick: (event) => toggle(document, box.checked, event.shiftKey),
    });
    const title = H.button(document.title || "Untitled", () => open(document, true), { class: "row-title", "data-id": id });
    const tags = document.status === "archived" || document.status === "rejected" ? [H.chip("status", document.status)] : [];
    return H.node("li", { class: `row${selected ? " selected" : ""}`, "data-id": id },
      H.node("label", { class: "check" }, box),
      H.node("div", { class: "row-main", onclick: (event) => { if (!event.target.closest("button, a, input")) open(document, true); } },
        title,
        H.node("p", { class: "row-why" }, why(document)),
        H.node("p", { class: "row-chips" }, tags, kinds(document).map((kind) => H.chip("signal", kind)),
          document.signal_count > 1 && H.node("span", { class: "quiet" }, H.count(document.signal_count, "signal")),
          document.signals.length > 0 && document.signals.every((each) => each.settled) && H.node("span", { class: "quiet" }, "looked at since"))),
      H.node("dl", { class: "row-figures" },
        H.node("div", {}, H.node("dt", {}, "Uses"), H.node("dd", {}, document.uses.toLocaleString("en"))),
        H.node("div", { title: document.harm_why }, H.node("dt", {}, "Harm"), H.node("dd", {}, document.harm.toFixed(1))),
        H.node("div", {}, H.node("dt", {}, "Changed"), H.node("dd", {}, H.time(document.updated_at)))));
  };
})((window.Harry = window.Harry || {}));
