// Pending, Flagged and Archived: the list on the left, the chosen document on the right.
(function (H) {
  "use strict";

  const SIGNALS = [["any", "All signals"], ...["stale", "contradiction", "dead_source", "negative_feedback"]
    .map((key) => [key, H.named("signal", key)])];
  const EMPTY = {
    pending: ["No drafts wait", "Drafts come from web pages that answered a question and from corrections that several people sent."],
    flagged: ["Nothing is flagged", "The checks for rot run every night. Digest has a button that runs them now."],
    archived: ["Nothing is archived", "Documents that you archive or reject are kept here and can be restored."],
  };

  H.queueView = function (tab) {
    const state = { offset: 0, words: "", signal: "any", rows: [], total: 0, next: -1, active: "" };
    const latest = H.latest();
    const parts = {};
    const selection = H.newSelection(tab, () => drawSelection());

    async function load({ quiet = false, focus = "" } = {}) {
      const current = latest.begin();
      if (!focus && parts.list.contains(document.activeElement)) focus = "kept";
      parts.list.setAttribute("aria-busy", "true");
      if (!quiet) parts.list.replaceChildren(H.skeleton(6));
      try {
        const size = H.transport.perPage;
        const filters = { words: state.words, signal: tab === "flagged" ? state.signal : "any" };
        const reply = await H.call("list_review_queue", { tab, limit: size, offset: state.offset, ...filters });
        if (!current()) return;
        if (!reply.documents.length && state.offset && reply.total > 0) {
          // The page went empty under us: show the last that there is.
          state.offset = Math.floor((reply.total - 1) / size) * size;
          load({ quiet, focus });
          return;
        }
        H.showCounts(reply);
        const was = place();
        Object.assign(state, { rows: reply.documents, total: reply.total, next: reply.next_offset });
        draw(focus, was);
      } catch (error) {
        if (!current()) return;
        parts.list.replaceChildren(H.failed("The list could not be loaded; your selection is kept.", error, () => load()));
      } finally {
        if (current()) parts.list.removeAttribute("aria-busy");
      }
    }

    // ``was``: where the marked row stood; what takes its place is marked when it has left.
    function draw(focus, was) {
      const index = place();
      const filtered = state.words || state.signal !== "any";
      parts.view.classList.toggle("bare", !state.rows.length && !filtered);
      if (!state.rows.length) {
        parts.list.replaceChildren(filtered
          ? H.empty("Nothing matches", "Try other words, or show all signals.", H.button("Clear the filters", clearFilters))
          : H.empty(...EMPTY[tab]));
        activate("");
      } else {
        const rows = state.rows.map((row) => H.row(row, { selected: selection.has(row.document_id), toggle, open }));
        parts.list.replaceChildren(head(), H.node("ul", { class: "rows", "aria-label": `${H.tabName(tab)} documents` }, rows),
          H.pager({ offset: state.offset, shown: rows.length, total: state.total, next: state.next, size: H.transport.perPage, go }));
        const next = state.rows[Math.min(Math.max(0, was), state.rows.length - 1)].document_id;
        if (H.wide()) activate(index >= 0 ? state.active : next);
        else if (parts.view.classList.contains("opened")) activate(index >= 0 ? state.active : "");
        else mark(index >= 0 ? state.active : next);
      }
      drawSelection();
      if (focus === "list") focusRow(0);
      else if (focus && !H.dialogOpen()) focusRow(Math.max(0, place()));
    }

    function head() {
      parts.all = H.node("input", { type: "checkbox", id: "select-all", onclick: () => selection.all(state.rows, parts.all.checked) });
      return H.node("div", { class: "list-head" },
        H.node("label", { class: "check" }, parts.all, H.node("span", {}, "Select all on this page")),
        H.node("span", { class: "quiet" }, tab === "flagged" ? "Most harmful first" : H.count(state.total, "document")));
    }

    function drawSelection() {
      H.drawBar(tab, selection);
      if (!parts.all || !parts.all.isConnected) return;
      let chosen = 0;
      for (const row of parts.list.querySelectorAll(".row")) {
        const on = selection.has(row.dataset.id);
        chosen += on ? 1 : 0;
        row.classList.toggle("selected", on);
        row.querySelector("input").checked = on;
      }
      parts.all.checked = chosen > 0 && chosen === state.rows.length;
      parts.all.indeterminate = chosen > 0 && chosen < state.rows.length;
    }

    function toggle(document, on, ranged) {
      if (ranged) selection.range(state.rows, document, on);
      else selection.set(document, on);
      mark(document.document_id);
    }

    function mark(id) {
      state.active = id;
      for (const row of parts.list.querySelectorAll(".row")) {
        const on = row.dataset.id === id;
        row.classList.toggle("active", on);
        row.querySelector(".row-title").toggleAttribute("aria-current", on);
        if (on) row.querySelector(".row-title").setAttribute("aria-current", "true");
      }
    }

    // Marks a row and shows its dossier beside the list.
    function activate(id) {
      mark(id);
      if (!id) {
        parts.view.classList.remove("opened");
        H.dossier.hide(parts.detail);
      } else if (parts.detail.dataset.id !== id || parts.stale) H.dossier.show(parts.detail, id, { back });
      parts.stale = false;
    }

    function open(document, focus) {
      mark(document.document_id);
      parts.view.classList.add("opened");
      H.dossier.show(parts.detail, document.document_id, { back, focus: focus && !H.wide() });
      if (!H.wide()) window.scrollTo(0, 0);
    }

    function back() {
      parts.view.classList.remove("opened");
      focusRow(Math.max(0, place()));
    }

    const place = () => state.rows.findIndex((row) => row.document_id === state.active);
    const showLater = H.paused((id) => { if (state.active === id && H.wide()) activate(id); }, 180);

    function focusRow(index) {
      const row = state.rows[index];
      if (!row) return;
      mark(row.document_id);
      parts.list.querySelector(`.row[data-id="${CSS.escape(row.document_id)}"] .row-title`)?.focus();
      showLater(row.document_id);
    }

    function go(offset, focus = "list") {
      state.offset = offset;
      load({ focus });
    }

    function clearFilters() {
      Object.assign(state, { words: "", signal: "any", offset: 0 });
      parts.words.value = "";
      const choice = parts.tools.querySelector("select");
      if (choice) choice.value = "any";
      load();
      parts.words.focus();
    }

    function tools() {
      const search = H.paused(() => { state.words = parts.words.value.trim(); state.offset = 0; load({ quiet: true }); });
      parts.words = H.node("input", { type: "search", placeholder: "Title, topic or address", maxlength: 200, value: state.words, oninput: search, "data-search": "list" });
      parts.tools = H.node("div", { class: "tools" }, H.labelled("Find", parts.words, { class: "field grow" }),
        tab === "flagged" && H.choice("Signal", SIGNALS, state.signal, (value) => { state.signal = value; state.offset = 0; load(); }),
        H.button("Refresh", () => { parts.stale = true; load({ quiet: true }); }));
      return parts.tools;
    }

    return {
      show(panel) {
        parts.list = H.node("div", { class: "list" });
        parts.detail = H.node("aside", { class: "dossier", "aria-label": "The chosen document" });
        parts.view = H.node("div", { class: "split" }, H.node("div", { class: "side-list" }, tools(), parts.list), parts.detail);
        panel.replaceChildren(parts.view);
        return load();
      },
      hide() {
        latest.drop();
        H.drawBar(tab, null);
      },
      changed(ids) {
        selection.drop(ids);
        parts.stale = ids.includes(state.active) || parts.detail.dataset.id !== state.active;
        return load({ quiet: true });
      },
      keys: {
        move: (step) => focusRow(Math.min(state.rows.length - 1, Math.max(0, place() + step))),
        toggle: (ranged) => { const row = state.rows[place()]; if (row) toggle(row, !selection.has(row.document_id), ranged); },
        all: () => selection.all(state.rows, !(parts.all && parts.all.checked)),
        page: (step) => (step < 0 ? state.offset > 0 && go(Math.max(0, state.offset - H.transport.perPage)) : state.next >= 0 && go(state.next)),
        open: () => { const row = state.rows[place()]; if (row) open(row, true); },
        close: () => (parts.view.classList.contains("opened") && !H.wide() ? back() : selection.clear()),
        act: (action) => {
          const row = state.rows[place()];
          const chosen = selection.size ? selection.documents() : row ? [row] : [];
          const able = action === "rewrite" ? tab !== "archived" : H.actsOf(tab).includes(action);
          if (able) H.act(action, action === "rewrite" && row ? [row] : chosen);
          else H.toast(`${H.named("action", action)} is not for this list.`);
        },
      },
    };
  };
})((window.Harry = window.Harry || {}));
