// What was done lately, with Undo, and the whole record of who did what.
(function (H) {
  "use strict";

  const latest = H.latest();
  const state = { part: "actions", offset: 0, actor: "", action: "" };
  let place = null;

  function action(each) {
    const documents = each.documents.slice(0, 4).map((one) => H.node("li", {},
      H.node("span", { class: "name" }, one.title || "Untitled"),
      one.before !== one.after && H.node("span", { class: "turns" }, H.chip("status", one.before), " → ", H.chip("status", one.after))));
    const more = each.document_count - documents.length;
    const undo = H.button("Undo", async () => {
      undo.disabled = true;
      undo.disabled = await H.undo(each.action_id);
    }, { class: "button slim", "aria-label": `Undo: ${H.named("action", each.action)} ${H.count(each.document_count, "document")}` });
    const standing = each.undone_by ? "Undone" : each.action === "undo" ? "" : each.why_not;
    return H.node("li", { class: `card act-${each.action}`, "data-id": each.action_id },
      H.node("div", { class: "card-head" },
        H.node("h3", {}, H.chip("action", each.action), H.count(each.document_count, "document")),
        each.undoable && undo),
      H.facts(H.node("span", {}, "by ", H.who(each.actor)), H.time(each.at), each.undone_by && H.node("strong", {}, "Undone")),
      each.reason && H.node("p", { class: "said" }, `“${each.reason}”`),
      H.node("ul", { class: "changes" }, documents, more > 0 && H.node("li", { class: "quiet" }, `and ${more} more`)),
      !each.undoable && standing && standing !== "Undone" && H.node("p", { class: "quiet" }, standing));
  }

  function entry(each) {
    return H.node("tr", {},
      H.node("td", {}, H.time(each.at)), H.node("td", {}, H.who(each.actor), " ", H.node("span", { class: "quiet" }, H.named("role", each.role))),
      H.node("td", {}, H.chip("action", each.action)), H.node("td", {}, each.target || each.target_id, " ", H.node("span", { class: "quiet" }, each.target_kind)),
      H.node("td", {}, each.reason, " ", turned(each.detail)));
  }

  // What an act made of a document, out of "after: live, before: pending"; anything else as it stands.
  function turned(detail) {
    const told = Object.fromEntries(detail.split(", ").map((part) => part.split(": ")));
    if (!told.before || !told.after) return H.node("span", { class: "quiet" }, detail);
    if (told.before === told.after) return null;
    return H.node("span", { class: "turns" }, H.chip("status", told.before), " → ", H.chip("status", told.after));
  }

  const COLUMNS = ["When", "Who", "What", "To what", "Why"];

  function drawn(reply) {
    const listed = reply.actions || reply.entries;
    if (!listed.length) {
      return state.part === "actions"
        ? H.empty("Nothing was done yet", "Every approval, archiving, restoring and rewriting will be here, and can be undone from here.")
        : H.empty("Nothing is on record", "Clear the filters to see everything.");
    }
    if (state.part === "actions") return H.node("ol", { class: "cards" }, listed.map(action));
    return H.node("div", { class: "table" }, H.node("table", {},
      H.node("caption", { class: "unseen" }, "Who did what"),
      H.node("thead", {}, H.node("tr", {}, COLUMNS.map((name) => H.node("th", { scope: "col" }, name)))),
      H.node("tbody", {}, listed.map((each) => {
        const row = entry(each);
        [...row.children].forEach((cell, index) => cell.setAttribute("data-name", COLUMNS[index]));
        return row;
      }))));
  }

  async function load(quiet) {
    const current = latest.begin();
    const size = H.transport.perPage;
    if (!quiet) place.replaceChildren(H.skeleton(5));
    place.setAttribute("aria-busy", "true");
    try {
      const reply = state.part === "actions"
        ? await H.call("list_review_queue", { tab: "recent", limit: size, offset: state.offset })
        : await H.call("audit_trail", { actor: state.actor, action: state.action, limit: size, offset: state.offset });
      if (!current()) return;
      if (state.part === "actions") H.showCounts(reply);
      const shown = (reply.actions || reply.entries).length;
      place.replaceChildren(drawn(reply), H.pager({
        offset: state.offset, shown, total: -1, next: reply.next_offset, size,
        go: (offset) => { state.offset = offset; load(); window.scrollTo(0, 0); },
      }) || "");
    } catch (error) {
      if (current()) place.replaceChildren(H.failed("The record could not be loaded.", error, () => load()));
    } finally {
      if (current()) place.removeAttribute("aria-busy");
    }
  }

  function tools() {
    const actor = H.node("input", { type: "search", placeholder: "Anybody", maxlength: 200, value: state.actor,
      oninput: H.paused(() => { state.actor = actor.value.trim(); state.offset = 0; load(true); }) });
    const kinds = ["approve", "archive", "restore", "keep", "rewrite", "reject", "undo"].map((key) => [key, H.named("action", key)]);
    const narrowing = H.node("div", { class: "tools-part", hidden: state.part === "actions" }, H.labelled("Who", actor),
      H.choice("What", [["", "Everything"], ...kinds], state.action, (value) => { state.action = value; state.offset = 0; load(); }));
    const part = H.choice("Show", [["actions", "Acts on documents"], ["audit", "The whole record"]], state.part, (value) => {
      Object.assign(state, { part: value, offset: 0 });
      narrowing.hidden = value === "actions";
      load();
    });
    return H.node("div", { class: "tools" }, part, narrowing, H.button("Refresh", () => load(true)));
  }

  H.recentView = {
    show(panel) {
      place = H.node("div", {});
      panel.replaceChildren(H.node("div", { class: "column" }, tools(), place));
      return load();
    },
    hide: () => latest.drop(),
    changed: () => load(true),
  };
})((window.Harry = window.Harry || {}));
