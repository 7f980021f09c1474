// Short messages at the edge of the page. One with an Undo stays long enough to be reached by keyboard.
(function (H) {
  "use strict";

  const SECONDS = { plain: 8, undo: 25 };
  const NARROW = { plain: 4, undo: 8 }; // there a message lies over the list; Recent has every Undo
  const narrow = () => window.matchMedia("(max-width: 47.99rem)").matches;
  let undoing = null; // what was done last here: its id, and what takes it back

  H.toast = function (text, { kind = "plain", action = null, label = "" } = {}) {
    const shown = H.node("div", { class: `toast ${kind}`, role: kind === "bad" ? "alert" : null });
    const close = () => shown.remove();
    shown.append(H.node("p", {}, text));
    if (action) shown.append(H.button(label, () => { close(); action(); }, { class: "button slim" }));
    shown.append(H.button("×", close, { class: "button bare", "aria-label": "Close this message" }));
    H.byId("toasts").prepend(shown);
    const seconds = narrow() ? NARROW : SECONDS;
    while (H.byId("toasts").children.length > (narrow() ? 1 : 4)) H.byId("toasts").lastElementChild.remove();
    if (kind !== "bad") leaveLater(shown, close, action ? seconds.undo : seconds.plain);
    return shown;
  };

  // Not while somebody points at it or has the focus in it. What was touched last counts as pointed at for ever.
  const held = () => (window.matchMedia("(hover: hover)").matches ? ":hover, :focus-within" : ":focus-within");

  function leaveLater(shown, close, seconds) {
    const check = () => (shown.matches(held()) ? setTimeout(check, 2000) : close());
    setTimeout(check, seconds * 1000);
  }

  // Offers to take back the act of that id, and no other.
  H.toast.undo = function (text, id, run = () => H.undo(id)) {
    undoing = id ? { id, run } : null;
    const shown = H.toast(text, { kind: "good", action: id && run, label: "Undo" });
    if (id) shown.dataset.undoes = id;
    return shown;
  };

  // An act was taken back: what still offers to do so goes.
  H.toast.undone = function (id) {
    if (undoing && undoing.id === id) undoing = null;
    for (const each of [...H.byId("toasts").children]) if (each.dataset.undoes === id) each.remove();
  };

  // Takes back what was done last on this page, once.
  H.undoLast = function () {
    const last = undoing;
    undoing = null;
    if (last) return last.run();
    H.toast("There is nothing to undo here. Recent has all that can still be taken back.");
    return null;
  };

  H.toast.error = function (what, error) {
    return H.toast(`${what} ${error.message}`, { kind: "bad" });
  };
})((window.Harry = window.Harry || {}));
