// A new text or title for one document: written first, then shown with all that it changes, then done.
(function (H) {
  "use strict";

  const MOST = 500000;
  const drafts = new Map(); // by document: what was typed and not yet sent
  let open = () => false; // whether an editor holds something that was not sent

  window.addEventListener("beforeunload", (event) => {
    if (drafts.size || open()) event.preventDefault();
  });

  // Title, version and the whole text as they are stored, page by page, all of one version.
  H.wholeDocument = async function (id) {
    let found = null;
    for (let offset = 0; offset >= 0;) {
      const page = await H.call("read_document", { document_id: id, offset });
      if (found && page.version !== found.version) throw new Error("It was changed just now. Try again.");
      found = { title: page.title, version: page.version, text: (found ? found.text : "") + page.text };
      offset = page.next_offset;
      if (found.text.length > MOST) throw new Error("It is too long to be rewritten here; ingest a new version of it instead.");
    }
    return found;
  };

  H.rewrite = async function (chosen) {
    let before;
    document.body.setAttribute("aria-busy", "true");
    try {
      before = await H.wholeDocument(chosen.document_id);
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

  // A browser spells line ends its own way.
  const plain = (text) => H.node("textarea", { value: text }).value;

  function edited(chosen, before) {
    const id = chosen.document_id;
    const kept = drafts.get(id);
    const was = kept || before; // what was typed earlier was made from the version of then
    const form = {
      id,
      before: kept ? kept.before : before,
      title: H.node("input", { type: "text", maxlength: 300, value: was.title }),
      text: H.node("textarea", { class: "editor", rows: 18, spellcheck: "true", maxlength: MOST, value: was.text, "data-first": true }),
      reason: H.node("input", { type: "text", maxlength: 500, placeholder: "Optional, for the record", value: kept ? kept.reason : "" }),
      news: H.node("div"),
      changed: () => ({
        ...(form.text.value === plain(form.before.text) ? {} : { text: form.text.value }),
        ...(form.title.value.trim() === form.before.title ? {} : { title: form.title.value.trim() }),
      }),
    };
    let done = false;
    open = () => Object.keys(form.changed()).length > 0;
    const keep = () => {
      open = () => false;
      if (done || !Object.keys(form.changed()).length) drafts.delete(id);
      else drafts.set(id, { title: form.title.value, text: form.text.value, reason: form.reason.value, before: form.before });
    };
    return H.dialog(`Rewrite “${before.title}”`, (parts) => {
      const startOver = () => {
        drafts.delete(id);
        Object.assign(form, { before });
        form.title.value = before.title;
        form.text.value = before.text;
        form.news.replaceChildren();
        form.text.oninput();
      };
      form.writing = H.node("div", { class: "writing" },
        kept && H.node("p", { class: "notice" }, "What you typed before is back. ", H.button("Start over", startOver, { class: "button slim" })),
        form.news, H.labelled("Title", form.title), H.labelled("Text (Markdown)", form.text), H.labelled("Reason", form.reason));
      form.call = (more) => H.call("review_documents",
        { action: "rewrite", document_ids: [id], ...form.changed(), base_version: form.before.version, ...more });
      form.finish = (reply) => { done = true; parts.close(reply); };
      if (form.before.version !== before.version) showNewer(form, before, "It was changed since you typed this.");
      write(parts, form);
    }, { wide: true, onclose: keep });
  }

  // What somebody else made of it meanwhile: shown beside what it was made from, and from then on what it is made from.
  function showNewer(form, newer, why) {
    const old = form.before;
    const pairs = H.changedParts(plain(old.text), plain(newer.text));
    if (form.text.value === plain(old.text)) form.text.value = newer.text;
    if (form.title.value.trim() === old.title) form.title.value = newer.title;
    form.before = newer;
    form.news.replaceChildren(H.node("div", { class: "notice", role: "alert" },
      H.node("p", {}, `${why} Your text is kept below; what it says goes over the newer one when you go on.`),
      newer.title !== old.title && H.node("p", {}, "The title is now ", H.node("strong", {}, newer.title), "."),
      H.node("div", { class: "differences" }, pairs.slice(0, 50).map(([was, is]) =>
        H.sideBySide(was, is, `Version ${old.version}`, `Version ${newer.version}, as it is now`))),
      H.node("details", {}, H.node("summary", {}, "The whole newer text"), H.node("div", { class: "text", tabindex: "0" }, newer.text))));
  }

  // A refused rewrite: the text is kept, and a newer version is shown where there is one.
  async function refused(parts, form, reply) {
    const why = reply.refused.length ? reply.refused[0].reason : "Nothing was changed.";
    const newer = await H.wholeDocument(form.id);
    if (newer.version === form.before.version) throw new Error(why);
    showNewer(form, newer, why);
    write(parts, form);
    form.news.scrollIntoView({ block: "nearest" });
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
      told.text ? differing(plain(form.before.text), told.text) : "",
      H.node("h3", {}, "What follows from it"), shown, fault);
    parts.buttons.replaceChildren(H.button("Back to the text", () => write(parts, form), { "data-first": true }), go);
    go.addEventListener("click", async () => {
      go.disabled = true;
      try {
        const reply = await form.call({ reason: form.reason.value.trim(), confirm: true });
        if (reply.outcome === "done") form.finish(reply);
        else await refused(parts, form, reply);
      } catch (error) {
        fault.replaceChildren(H.failed("The rewrite failed; your text is kept.", error));
        go.disabled = false;
      }
    });
    const load = async () => {
      try {
        const preview = await form.call({ preview: true });
        if (!preview.changes.length) return await refused(parts, form, preview);
        shown.replaceChildren(H.previewOf(preview));
        go.disabled = false;
        if (go.isConnected) go.focus();
      } catch (error) {
        shown.replaceChildren(H.failed("The preview failed; your text is kept.", error, load));
      }
      return null;
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
