// A tab that is one list of cards with filters above and pages below: gaps, corrections, official answers.
(function (H) {
  "use strict";

  H.listView = function (about) {
    const latest = H.latest();
    const state = { offset: 0, ...about.state };
    let place = null;

    async function load(change, quiet) {
      if (change) Object.assign(state, { offset: 0 }, change);
      const current = latest.begin();
      const size = H.transport.perPage;
      if (!quiet) place.replaceChildren(H.skeleton(4));
      place.setAttribute("aria-busy", "true");
      try {
        const reply = await H.call(about.tool, { ...state, limit: size });
        if (!current()) return;
        const items = about.items(reply);
        if (!items.length && state.offset) {
          load({ offset: Math.max(0, state.offset - size) }, quiet);
          return;
        }
        place.replaceChildren(
          items.length ? H.node("ol", { class: "cards" }, items.map((each) => about.draw(each, again))) : H.empty(...(about.emptyOf ? about.emptyOf(reply, state) : about.empty)),
          H.pager({ offset: state.offset, shown: items.length, total: about.total(reply), next: about.next(reply, state.offset, size), size,
            go: (offset) => { load({ offset }); window.scrollTo(0, 0); } }) || "");
      } catch (error) {
        if (current()) place.replaceChildren(H.failed("The list could not be loaded.", error, () => load()));
      } finally {
        if (current()) place.removeAttribute("aria-busy");
      }
    }

    const again = () => load(null, true);

    return {
      show(panel) {
        place = H.node("div", {});
        const tools = H.node("div", { class: "tools" }, about.tools(state, (change) => load(change)), H.button("Refresh", again));
        panel.replaceChildren(H.node("div", { class: "column" }, tools, place));
        return load();
      },
      hide: () => latest.drop(),
      changed: again,
    };
  };

  // A button that decides about one entry; it is off while it runs.
  H.deciding = function (action, { primary = false, run }) {
    const button = H.button(H.named("action", action), async () => {
      button.disabled = true;
      try {
        await run();
      } catch (error) {
        H.toast.error(`${H.named("action", action)} failed; nothing was changed.`, error);
      } finally {
        button.disabled = false;
      }
    }, { class: `button${primary ? " primary" : ""}`, "data-act": action, title: H.words.action[action][2] });
    return button;
  };
})((window.Harry = window.Harry || {}));
