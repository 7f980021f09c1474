// The keyboard. Letters act on what is chosen, or on the row that is marked; they do nothing while somebody types.
(function (H) {
  "use strict";

  const HELP = [
    ["j, k or ↓, ↑", "Next and previous document"],
    ["Enter or o", "Open the document"],
    ["x", "Choose the document, or leave it"],
    ["Shift + x", "Choose all from the last one to this one"],
    ["*", "Choose all on the page"],
    ["a", "Approve"],
    ["e", "Archive"],
    ["r", "Restore, or reject a draft"],
    ["f", "Keep flagged"],
    ["w", "Rewrite"],
    ["u", "Undo what was done last"],
    ["n, p", "Next and previous page"],
    ["/", "Find; Enter goes on to the list"],
    ["1 … 8", "Go to a tab"],
    ["←, →", "Next tab, when one has the focus"],
    ["Esc", "Close, or clear the selection"],
    ["?", "This help"],
  ];

  H.help = function () {
    return H.dialog("Keyboard", ({ body, buttons, close }) => {
      body.append(H.node("dl", { class: "help" }, HELP.map(([keys, does]) =>
        H.node("div", {}, H.node("dt", {}, keys.split(/(, | or | … | \+ )/).map((part, place) => (place % 2 ? part : H.node("kbd", {}, part)))),
          H.node("dd", {}, does)))));
      buttons.append(H.button("Close", () => close(), { class: "button primary", "data-first": true }));
    });
  };

  const typing = (target) => target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");

  // Escape leaves a field, Enter and ↓ go from the search to what it found.
  function leaveField(event) {
    const field = event.target;
    const view = H.view();
    if (event.key === "Escape" && !(field.type === "search" && field.value)) field.blur();
    if (field.dataset.search && ["Enter", "ArrowDown"].includes(event.key) && view.keys) {
      event.preventDefault();
      view.keys.move(0);
    }
  }

  function find() {
    const box = document.querySelector("[data-search], #panel input[type=search]");
    if (box) box.focus();
  }

  function plain(key) {
    if (key >= "1" && key <= "8") return () => H.goTo(H.tabAt(Number(key) - 1), { focus: true });
    return { "?": H.help, "/": find, u: H.undoLast }[key];
  }

  function ofView(keys, event) {
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (step) return () => keys.move(step);
    const act = { a: "approve", e: "archive", f: "keep", w: "rewrite", r: document.title.startsWith("Archived") ? "restore" : "reject" }[event.key];
    if (act) return () => keys.act(act);
    return {
      x: () => keys.toggle(false), X: () => keys.toggle(true), "*": keys.all, o: keys.open,
      n: () => keys.page(1), p: () => keys.page(-1), Escape: keys.close,
    }[event.key];
  }

  H.listenToKeys = function () {
    document.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || H.dialogOpen()) return;
      if (typing(event.target)) {
        leaveField(event);
        return;
      }
      const scrolls = event.target.closest(".text, [role=tab]") && event.key.startsWith("Arrow");
      const view = H.view();
      const act = plain(event.key) || (!scrolls && view && view.keys && ofView(view.keys, event));
      if (!act) return;
      event.preventDefault();
      act();
    });
  };
})((window.Harry = window.Harry || {}));
