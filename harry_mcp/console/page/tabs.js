// The tabs, and the counts on them.
(function (H) {
  "use strict";

  const NAMES = {
    pending: "Pending", flagged: "Flagged", archived: "Archived", recent: "Recent",
    gaps: "Gaps", corrections: "Corrections", verified: "Verified", digest: "Digest",
  };
  const COUNTED = ["pending", "flagged", "archived"];
  const views = {};
  let current = "";

  H.tabName = (tab) => NAMES[tab];
  H.view = () => views[current] || null;

  function made(tab) {
    const rest = { recent: H.recentView, gaps: H.gapsView, corrections: H.correctionsView, verified: H.verifiedView, digest: H.digestView };
    return rest[tab] || H.queueView(tab);
  }

  H.drawTabs = function () {
    const row = H.byId("tabs");
    row.replaceChildren(...Object.entries(NAMES).map(([tab, name], index) =>
      H.node("button", {
        type: "button", role: "tab", id: `tab-${tab}`, "aria-controls": "panel", "aria-selected": "false", tabindex: "-1",
        "aria-keyshortcuts": index + 1, onclick: () => H.goTo(tab),
      }, H.node("span", {}, name), COUNTED.includes(tab) && H.node("span", { class: "tally", id: `count-${tab}` }))));
    row.addEventListener("keydown", (event) => {
      const tabs = Object.keys(NAMES);
      const here = tabs.indexOf(current);
      const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      H.goTo(tabs[(to + tabs.length) % tabs.length], { focus: true });
    });
  };

  H.goTo = function (tab, { focus = false } = {}) {
    if (!Object.prototype.hasOwnProperty.call(NAMES, tab)) return;
    if (current && views[current].hide) views[current].hide();
    current = tab;
    for (const button of H.byId("tabs").children) {
      const on = button.id === `tab-${tab}`;
      button.setAttribute("aria-selected", on ? "true" : "false");
      button.tabIndex = on ? 0 : -1;
      if (on && focus) button.focus();
    }
    H.byId("panel").setAttribute("aria-labelledby", `tab-${tab}`);
    document.title = `${NAMES[tab]} · Curation`;
    if (document.documentElement.dataset.mode === "admin") history.replaceState(null, "", `#${tab}`);
    views[tab] = views[tab] || made(tab);
    views[tab].show(H.byId("panel"));
  };

  H.tabAt = (index) => Object.keys(NAMES)[index];
  H.knownTab = (name) => (Object.prototype.hasOwnProperty.call(NAMES, name) ? name : "");

  H.showCounts = function (reply) {
    for (const tab of COUNTED) {
      const number = reply[tab];
      if (typeof number !== "number") continue;
      const badge = H.byId(`count-${tab}`);
      badge.textContent = number > 9999 ? `${Math.floor(number / 1000)}k` : String(number);
      badge.title = number.toLocaleString("en");
    }
  };

  H.refreshCounts = async function () {
    try {
      H.showCounts(await H.call("list_review_queue", { tab: "pending", limit: 1 }));
    } catch {
      // The next list that is loaded brings them.
    }
  };

  // Something was done to documents: show what is on the screen anew.
  H.changed = function (ids) {
    const view = H.view();
    if (!view) return;
    view.changed(ids);
    if (!COUNTED.includes(current) && current !== "recent") H.refreshCounts();
  };
})((window.Harry = window.Harry || {}));
