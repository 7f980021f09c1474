// Dialogs of the browser's own kind: they hold the focus, Escape closes them, and the focus goes back afterwards.
(function (H) {
  "use strict";

  let number = 0;

  // Opens a dialog; ``fill`` gets its body and its row of buttons. Resolves with what ``close`` is called with.
  H.dialog = function (title, fill, { wide = false, onclose = null } = {}) {
    const id = `dialog-title-${++number}`;
    const body = H.node("div", { class: "dialog-body" });
    const buttons = H.node("div", { class: "dialog-buttons" });
    const shown = H.node(
      "dialog",
      { class: wide ? "wide" : "", "aria-labelledby": id },
      H.node("div", { class: "dialog-head" },
        H.node("h2", { id }, title),
        H.button("×", () => shown.close(), { class: "button bare", "aria-label": "Close" })),
      body,
      buttons,
    );
    return new Promise((resolve) => {
      let answer;
      const close = (value) => {
        answer = value;
        shown.close();
      };
      shown.addEventListener("close", () => {
        if (onclose) onclose();
        shown.remove();
        resolve(answer);
      });
      document.body.append(shown);
      fill({ body, buttons, close, shown });
      shown.showModal();
      const wanted = shown.querySelector("[data-first]");
      if (wanted) wanted.focus();
    });
  };

  H.dialogOpen = () => Boolean(document.querySelector("dialog[open]"));

  // A text that somebody is asked for; resolves with it, or with undefined.
  H.askText = function ({ title, advice, label, act, text = "", rows = 3, most = 2000, kind = "primary" }) {
    return H.dialog(title, ({ body, buttons, close }) => {
      const area = H.node("textarea", { rows, maxlength: most, value: text, "data-first": true });
      const go = H.button(act, () => close(area.value.trim()), { class: `button ${kind}` });
      const check = () => { go.disabled = !area.value.trim(); };
      area.addEventListener("input", check);
      check();
      body.append(H.node("p", {}, advice), H.labelled(label, area));
      buttons.append(H.button("Cancel", () => close()), go);
    });
  };
})((window.Harry = window.Harry || {}));
