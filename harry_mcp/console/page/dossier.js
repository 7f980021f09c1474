// One document with all that bears on a decision about it.
(function (H) {
  "use strict";

  const latest = H.latest();

  H.dossier = {
    // Loads into ``place``; ``back`` closes it where it covers the list.
    async show(place, id, { back, focus = false }) {
      const current = latest.begin();
      place.setAttribute("aria-busy", "true");
      if (place.dataset.id !== id) place.replaceChildren(backButton(back), H.skeleton(5));
      place.dataset.id = id;
      try {
        const reply = await H.call("list_review_queue", { document_id: id });
        if (!current()) return;
        place.replaceChildren(backButton(back), ...drawn(reply, (other) => H.dossier.show(place, other, { back, focus: true })).filter(Boolean));
        if (focus) place.querySelector("h2").focus();
      } catch (error) {
        if (!current()) return;
        place.replaceChildren(backButton(back), H.failed("The document could not be loaded.", error,
          () => H.dossier.show(place, id, { back, focus })));
      } finally {
        if (current()) place.removeAttribute("aria-busy");
      }
    },
    hide(place) {
      latest.drop();
      delete place.dataset.id;
      place.removeAttribute("aria-busy");
      place.replaceChildren(H.empty("Nothing chosen", "Choose a document to see why it is here and what differs."));
    },
  };

  const backButton = (back) => H.button("← Back to the list", back, { class: "button bare back" });

  function drawn(reply, go) {
    const document = reply.documents[0];
    const dossier = reply.dossier[0];
    return [head(document, dossier), signals(document), differences(dossier, go), text(document, dossier),
      versions(dossier, reply.actions), history(reply.actions)];
  }

  function head(document, dossier) {
    const buttons = dossier.allowed.map((action) =>
      H.button(H.named("action", action), () => H.act(action, [document]), {
        class: `button${action === "approve" || action === "restore" ? " primary" : ""}`, "data-act": action,
        "aria-keyshortcuts": H.keyOf(action), title: H.words.action[action][2],
      }));
    return H.node("header", { class: "dossier-head" },
      H.node("div", { class: "dossier-title" },
        H.node("h2", { tabindex: "-1" }, document.title || "Untitled"), H.chip("status", document.status)),
      H.node("p", { class: "address-line" }, H.link(document.url || document.source)),
      H.facts(document.topic, `version ${document.version}`, H.node("span", {}, "changed ", H.time(document.updated_at)),
        document.uses ? `used in ${H.count(document.uses, "recent answer")}` : "not used in recent answers"),
      H.node("div", { class: "buttons" }, buttons),
      H.node("details", { class: "harm" }, H.node("summary", {}, `Harm ${document.harm.toFixed(1)}`), H.node("p", {}, document.harm_why)));
  }

  function section(title, number, ...content) {
    return H.node("section", {}, H.node("h3", {}, title, number > 0 && H.node("span", { class: "tally" }, number)), content);
  }

  function signals(document) {
    if (!document.signals.length) {
      const why = document.status === "pending" ? "It is a draft and waits for approval." : "Nothing was ever said against it.";
      return section("Why it is here", 0, H.node("p", { class: "quiet" }, why));
    }
    return section("Why it is here", document.signal_count, H.node("ul", { class: "signals" }, document.signals.map((each) =>
      H.node("li", { class: each.settled ? "settled" : "" },
        H.node("p", { class: "signal-head" }, H.chip("signal", each.signal), H.time(each.at),
          H.node("span", { class: "quiet" }, `by ${H.who(each.by)}`), each.settled && H.node("span", { class: "quiet" }, "· looked at since")),
        H.node("p", {}, H.sentence(each.why))))));
  }

  function differences(dossier, go) {
    if (!dossier.differences.length) return null;
    return section("What differs", dossier.differences.length, H.node("div", { class: "differences" },
      dossier.differences.map((pair) => {
        const other = /^([\s\S]*) \((doc_[^()\s]+)\)$/.exec(pair.origin);
        const name = other ? other[1] || "The other document" : pair.origin || "Before";
        return H.node("div", {},
          H.sideBySide(pair.before, pair.after, other ? `In “${name}”` : `Before, ${name}`, "In this document", { apart: Boolean(other) }),
          other && H.button(`Open “${name}”`, () => go(other[2]), { class: "button bare slim long" }));
      })));
  }

  function text(document, dossier) {
    const shown = H.node("div", { class: "text", tabindex: "0", role: "region", "aria-label": "Text of the document" }, dossier.text);
    const more = dossier.truncated && H.button("Show the whole text", async () => {
      more.disabled = true;
      try {
        shown.textContent = (await H.wholeDocument(document.document_id)).text;
        more.remove();
      } catch (error) {
        more.disabled = false;
        H.toast.error("The text could not be loaded.", error);
      }
    }, { class: "button slim" });
    return section("Text", 0, shown, more);
  }

  function versions(dossier, actions) {
    if (!dossier.versions.length) return null;
    const undoable = new Set(actions.filter((each) => each.undoable).map((each) => each.action_id));
    return section("Kept versions", dossier.versions.length, H.node("ul", { class: "plain" }, dossier.versions.map((each) =>
      H.node("li", { class: "line" },
        H.node("span", {}, H.node("strong", {}, `Version ${each.version}`), ` ${each.title}`),
        H.node("span", { class: "quiet" }, `${H.count(each.characters, "character")}, replaced `, H.time(each.replaced_at)),
        undoable.has(each.action_id) && H.button("Bring it back", () => H.undo(each.action_id), { class: "button slim" })))));
  }

  function history(actions) {
    if (!actions.length) return null;
    return section("What was done", actions.length, H.node("ul", { class: "plain" }, actions.map((each) =>
      H.node("li", { class: "line" },
        H.node("span", {}, H.node("strong", {}, H.named("action", each.action)), ` by ${H.who(each.actor)}`),
        H.node("span", { class: "quiet" }, H.time(each.at), each.reason ? `: ${each.reason}` : "", each.undone_by ? " · undone" : ""),
        each.undoable && H.button("Undo", () => H.undo(each.action_id), { class: "button slim" })))));
  }
})((window.Harry = window.Harry || {}));
