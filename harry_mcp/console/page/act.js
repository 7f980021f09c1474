// Acts on documents. What changes something for readers is shown before it is done; all of it can be undone.
(function (H) {
  "use strict";

  const CALM = new Set(["keep"]);

  // Whether readers find the same before and after: then there is nothing to preview.
  const unseen = (action, documents) =>
    CALM.has(action) || (action === "approve" && documents.every((each) => each.status === "flagged"));

  const ids = (documents) => documents.map((each) => each.document_id);

  H.act = async function (action, documents) {
    if (!documents.length) return H.toast("Choose a document first.");
    if (action === "rewrite") return H.rewrite(documents[0]);
    if (unseen(action, documents)) return carryOut(action, documents, {});
    const reason = await confirmed(action, documents);
    return reason === undefined ? null : carryOut(action, documents, { reason });
  };

  let busy = false; // a second click on the same button is no second act

  async function carryOut(action, documents, more) {
    if (busy) return null;
    busy = true;
    document.body.setAttribute("aria-busy", "true");
    try {
      return H.told(await H.call("review_documents", { action, document_ids: ids(documents), confirm: true, ...more }));
    } catch (error) {
      H.toast.error(`${H.named("action", action)} failed; nothing was changed and your selection is kept.`, error);
      return null;
    } finally {
      busy = false;
      document.body.removeAttribute("aria-busy");
    }
  }

  // Says what was done, offers to undo it, and shows the lists anew.
  H.told = function (reply) {
    const refused = reply.refused.length ? ` ${left(reply.refused)}` : "";
    if (reply.outcome === "done") {
      const one = reply.changes.length === 1 ? `“${reply.changes[0].title}”` : H.count(reply.changes.length, "document");
      H.toast.undo(`${one} ${H.done(reply.action)}.${refused}`, reply.action_id);
      H.changed(reply.changes.map((each) => each.document_id));
    } else if (reply.outcome === "nothing") {
      H.toast(`Nothing was changed.${refused}`, { kind: "bad" });
    } else {
      H.toast("Nothing was changed: the question about it was not answered with yes.", { kind: "bad" });
    }
    return reply;
  };

  function left(refused) {
    const first = `“${refused[0].title || refused[0].document_id}”: ${refused[0].reason}`;
    return refused.length === 1 ? `Left as it is: ${first}` : `${refused.length} are left as they are, among them ${first}`;
  }

  H.undo = async function (actionId) {
    try {
      const reply = await H.call("rollback_review", { action_id: actionId });
      H.toast.undone(actionId);
      H.toast(`Undone. ${putBack(reply)}`, { kind: "good" });
      H.changed(reply.changes.map((each) => each.document_id));
      return true;
    } catch (error) {
      H.toast.error("It could not be undone.", error);
      return false;
    }
  };

  // How far all is as before: what happened to a document since by other means stays.
  function putBack(reply) {
    const differing = reply.changes.filter((each) => each.notes.length);
    const gone = reply.refused.length ? ` ${left(reply.refused)}` : "";
    if (!differing.length) return `${H.count(reply.changes.length, "document is", "documents are")} as before.${gone}`;
    const one = differing[0];
    const told = `“${one.title}” is not wholly as before: ${one.notes.join(" ")}`;
    const whole = reply.changes.length - differing.length;
    const rest = [differing.length > 1 && `${differing.length - 1} more also not.`, whole > 0 && `${H.count(whole, "document is", "documents are")} as before.`];
    return [told, ...rest.filter(Boolean)].join(" ") + gone;
  }

  // Asks, with what would change; resolves with the reason that was given, or undefined.
  function confirmed(action, documents) {
    const what = documents.length === 1 ? `“${documents[0].title}”` : H.count(documents.length, "document");
    return H.dialog(`${H.named("action", action)} ${what}?`, ({ body, buttons, close }) => {
      const reason = H.node("input", { type: "text", maxlength: 500, placeholder: "Optional, for the record" });
      const shown = H.node("div", { class: "preview" }, H.skeleton(2));
      const kind = action === "archive" || action === "reject" ? "danger" : "primary";
      const go = H.button(H.named("action", action), () => close(reason.value.trim()), { class: `button ${kind}`, disabled: true });
      body.append(H.node("p", {}, H.words.action[action][2], " You can undo it for some days."), shown, H.labelled("Reason", reason));
      const cancel = H.button("Cancel", () => close(), { "data-first": true });
      buttons.append(cancel, go);
      const load = async () => {
        try {
          const preview = await H.call("review_documents", { action, document_ids: ids(documents), preview: true });
          shown.replaceChildren(H.previewOf(preview));
          go.disabled = preview.changes.length === 0;
          if (!go.disabled && document.activeElement === cancel) go.focus();
        } catch (error) {
          shown.replaceChildren(H.failed("The preview failed.", error, load));
        }
      };
      load();
    });
  }

  // What an act would change: which documents, and which past questions.
  H.previewOf = function (preview) {
    const change = (each) =>
      H.node("li", {},
        H.node("span", { class: "name" }, each.title || "Untitled"),
        each.before !== each.after && H.node("span", { class: "turns" }, H.chip("status", each.before), " → ", H.chip("status", each.after)),
        H.node("span", { class: "quiet" }, each.uses ? `used in ${H.count(each.uses, "recent answer")}` : "not used lately"),
        each.notes.map((note) => H.node("p", { class: "note" }, note)));
    const most = 8;
    const more = preview.changes.length - most;
    return H.node("div", {},
      H.node("ul", { class: "changes" }, preview.changes.slice(0, most).map(change),
        more > 0 && H.node("li", { class: "quiet" }, `and ${H.count(more, "more document")}`)),
      preview.refused.length > 0 && H.node("div", { class: "notice" }, H.node("p", {}, left(preview.refused))),
      answersOf(preview));
  };

  function answersOf(preview) {
    if (!preview.questions_asked) return H.node("p", { class: "quiet" }, preview.note || "No past question has to do with it.");
    const was = (title, band) => [title ? `“${title}”` : "nothing", H.node("span", { class: "quiet" }, ` (${H.named("band", band)})`)];
    const tried = `${H.count(preview.questions_asked, "past question")} tried` +
      (preview.questions_left ? `, ${preview.questions_left} more not.` : ".");
    if (!preview.answers.length) return H.node("p", { class: "calm" }, `No past answer changes. ${tried}`);
    return H.node("div", { class: "answers" },
      H.node("h3", {}, H.count(preview.answers.length, "past answer changes", "past answers change")),
      H.node("ul", {}, preview.answers.map((each) =>
        H.node("li", {}, H.node("p", { class: "question" }, each.question),
          H.node("p", {}, was(each.before_title, each.before_band), " → ", was(each.after_title, each.after_band),
            H.node("span", { class: "quiet" }, ` · asked ${H.count(each.asked, "time")}`))))),
      H.node("p", { class: "quiet" }, tried));
  }
})((window.Harry = window.Harry || {}));
