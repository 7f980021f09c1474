// Short messages at the edge of the page. One with an Undo stays long enough to be reached by keyboard.
(function (H) {
  "use strict";

  const SECONDS = { plain: 8, undo: 25 };
  let undoing = null;

  H.toast = function (text, { kind = "plain", action = null, label = "" } = {}) {
    const shown = H.node("div", { class: `toast ${kind}`, role: kind === "bad" ? "alert" : null });
    const close = () => shown.remove();
    shown.append(H.node("p", {}, text));
    if (action) shown.append(H.button(label, () => { close(); action(); }, { class: "button slim" }));
    shown.append(H.button("×", close, { class: "button bare", "aria-label": "Close this message" }));
    H.byId("toasts").prepend(shown);
    while (H.byId("toasts").children.length > 4) H.byId("toasts").lastElementChild.remove();
    if (kind !== "bad") leaveLater(shown, close, action ? SECONDS.undo : SECONDS.plain);
    return shown;
  };

  // Not while somebody points at it or has the focus in it.
  function leaveLater(shown, close, seconds) {
    const check = () => (shown.matches(":hover, :focus-within") ? setTimeout(check, 2000) : close());
    setTimeout(check, seconds * 1000);
  }

  H.toast.undo = function (text, actionId) {
    undoing = actionId ? () => H.undo(actionId) : null;
    return H.toast(text, { kind: "good", action: undoing && H.undoLast, label: "Undo" });
  };

  // Takes back what was done last on this page, once.
  H.undoLast = function () {
    const act = undoing;
    undoing = null;
    if (act) return act();
    H.toast("There is nothing to undo here. Recent has all that can still be taken back.");
    return null;
  };

  H.toast.error = function (what, error) {
    return H.toast(`${what} ${error.message}`, { kind: "bad" });
  };
})((window.Harry = window.Harry || {}));
