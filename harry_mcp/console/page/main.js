// Starts the page.
(function (H) {
  "use strict";

  H.call = (tool, args) => H.transport.call(tool, args);
  H.wide = () => window.matchMedia("(min-width: 62rem)").matches;

  H.drawTools = function () {
    const { leave, otherMode, show } = H.transport;
    const mode = otherMode ? otherMode() : "";
    H.byId("top-tools").replaceChildren(
      H.button("Keyboard", H.help, { class: "button bare wide-only", "aria-keyshortcuts": "?", title: "Keyboard help (?)" }),
      mode && H.button(mode === "fullscreen" ? "Full screen" : "Smaller", () => show(mode), { class: "button" }) || "",
      leave && H.button("Sign out", leave, { class: "button" }) || "");
  };

  async function start() {
    H.drawTabs();
    H.listenToKeys();
    try {
      await H.transport.ready();
    } catch (error) {
      H.byId("panel").replaceChildren(H.failed("The page could not reach its host.", error, () => location.reload()));
      return;
    }
    H.drawTools();
    H.goTo(H.knownTab(location.hash.slice(1)) || "flagged");
  }

  start();
})((window.Harry = window.Harry || {}));
