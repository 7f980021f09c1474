// A new text or title for one document: written first, then shown with all that it changes, then done.
(function (H) {
  "use strict";

  const MOST = 500000;
  const drafts = new Map(); // by document: what was typed and not yet sent
  let open = () => false; // whether an editor holds something that was not sent

  window.addEventListener("beforeunload", (event) => {
    if (drafts.size || open()) event.preventDefault();
  });

  // The whole text as it is stored, page by page.
  H.wholeText = async function (id) {
    let text = "";
    for (let offset = 0; offset >= 0;) {
      const page = await H.call("read_document", { document_id: id, offset });
      text += page.text;
      offset = page.next_offset;
      if (text.length > MOST) throw new Error("It is too long to be rewritten here; ingest a new version of it instead.");
    }
    return text;
  };

  H.rewrite = async function (chosen) {
    let before;
    document.body.setAttribute("aria-busy", "true");
    try {
      before = { title: chosen.title, text: await H.wholeText(chosen.document_id) };
    } catch (error) {
      H.toast.error("The text could not be loaded.", error);
      return;
    } finally {
      document.body.removeAttribute("aria-busy");
    }
    const reply = await edited(chosen, before);
    if (reply) {
      drafts.delete(chosen.document_id);
      H.told(reply);
    }
  };

  function edited(chosen, before) {
    const id = chosen.document_id;
    const kept = drafts.get(id);
    const title = H.node("input", { type: "text", maxlength: 300, value: kept ? kept.title : before.title });
    const text = H.node("textarea", { class: "editor", rows: 18, spellcheck: "true", maxlength: MOST, value: kept ? kept.text : before.text, "data-first": true });
    const reason = H.node("input", { type: "text", maxlength: 500, placeholder: "Optional, for the record", value: kept ? kept.reason : "" });
    const plain = H.node("textarea", { value: before.text }).value; // a browser spells line ends its own way
    const changed = () => ({
      ...(text.value === plain ? {} : { text: text.value }),
      ...(title.value.trim() === before.title ? {} : { title: title.value.trim() }),
    });
    let done = false;
    open = () => Object.keys(changed()).length > 0;
    const keep = () => {
      open = () => false;
      if (!done && Object.keys(changed()).length) drafts.set(id, { title: title.value, text: text.value, reason: reason.value });
    };
    return H.dialog(`Rewrite “${chosen.title}”`, (parts) => {
      const writing = H.node("div", { class: "writing" },
        kept && H.node("p", { class: "notice" }, "What you typed before is back. ",
          H.button("Start over", () => { drafts.delete(id); title.value = before.title; text.value = before.text; text.oninput(); }, { class: "button slim" })),
        H.labelled("Title", title), H.labelled("Text (Markdown)", text), H.labelled("Reason", reason));
      const send = () => H.call("review_documents", { action: "rewrite", document_ids: [id], ...changed(), reason: reason.value.trim(), confirm: true });
      const finish = (reply) => { done = true; parts.close(reply); };
      write(parts, { writing, title, text, changed, before, plain, send, finish, id });
    }, { wide: true, onclose: keep });
  }

  function write(parts, form) {
    const go = H.button("Preview changes", () => review(parts, form), { class: "button primary" });
    const check = () => { go.disabled = !form.title.value.trim() || !form.text.value.trim() || !Object.keys(form.changed()).length; };
    form.title.oninput = form.text.oninput = check;
    parts.body.replaceChildren(form.writing);
    parts.buttons.replaceChildren(H.button("Cancel", () => parts.close()), go);
    check();
    form.text.focus();
  }

  function review(parts, form) {
    const told = form.changed();
    const go = H.button("Rewrite", null, { class: "button primary", disabled: true });
    const shown = H.node("div", { class: "preview" }, H.skeleton(2));
    const fault = H.node("div");
    parts.body.replaceChildren(
      told.title ? H.node("p", {}, "The title becomes ", H.node("strong", {}, told.title), ".") : "",
      told.text ? differing(form.plain, told.text) : "",
      H.node("h3", {}, "What follows from it"), shown, fault);
    parts.buttons.replaceChildren(H.button("Back to the text", () => write(parts, form), { "data-first": true }), go);
    go.addEventListener("click", async () => {
      go.disabled = true;
      try {
        form.finish(await form.send());
      } catch (error) {
        fault.replaceChildren(H.failed("The rewrite failed; your text is kept.", error));
        go.disabled = false;
      }
    });
    const load = async () => {
      try {
        const preview = await H.call("review_documents", { action: "rewrite", document_ids: [form.id], ...told, preview: true });
        shown.replaceChildren(H.previewOf(preview));
        go.disabled = preview.changes.length === 0;
        if (!go.disabled && go.isConnected) go.focus();
      } catch (error) {
        shown.replaceChildren(H.failed("The preview failed; your text is kept.", error, load));
      }
    };
    load();
  }

  function differing(before, after) {
    const pairs = H.changedParts(before, after);
    return H.node("div", { class: "differences" },
      H.node("h3", {}, H.count(pairs.length, "passage changes", "passages change")),
      pairs.slice(0, 50).map(([was, is]) => H.sideBySide(was, is, "Now", "Then")));
  }
})((window.Harry = window.Harry || {}));
