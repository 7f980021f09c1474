// What people sent as corrections, and what a curator decides about them.
(function (H) {
  "use strict";

  const STATUSES = [["pending", "Waiting"], ["active", "Active"], ["deprecated", "Given up"], ["all", "All"]];
  const NONE = { pending: "No correction waits", active: "No correction is active", deprecated: "No correction was given up", all: "There are no corrections" };
  const SUMMARY = {
    approve: "Approved: it reaches agents from now on.",
    deprecate: "Given up: it reaches nobody any more, and can be approved again.",
    promote: "A draft was made of it; it waits in Pending.",
  };

  // What brings a correction back to where it stood before a decision.
  const BACK = { pending: "reopen", active: "approve", deprecated: "deprecate" };

  const decide = (each, action, again) => async () => {
    await H.call("review_correction", { correction_id: each.correction_id, action });
    if (action === "promote") H.toast(SUMMARY[action], { kind: "good" });
    else {
      H.toast.undone(each.correction_id); // an older decision is not the last one any more
      H.toast.undo(SUMMARY[action], each.correction_id, () => takeBack(each, again));
    }
    H.refreshCounts();
    again();
  };

  async function takeBack(each, again) {
    try {
      await H.call("review_correction", { correction_id: each.correction_id, action: BACK[each.status], reason: each.status_reason });
      H.toast.undone(each.correction_id);
      H.toast("Undone. The correction is as before.", { kind: "good" });
      H.refreshCounts();
      again();
    } catch (error) {
      H.toast.error("It could not be undone.", error);
    }
  }

  function acts(each, again) {
    const offered = { pending: ["approve", "deprecate"], active: ["promote", "deprecate"], deprecated: ["approve"] }[each.status];
    const able = offered.filter((action) => action !== "promote" || !each.draft_document_id);
    return able.map((action) => H.deciding(action, { primary: action === "approve", run: decide(each, action, again) }));
  }

  function answers(each) {
    const place = H.node("div", {});
    return H.node("details", { ontoggle: async (event) => {
      if (!event.target.open || place.childElementCount) return;
      place.replaceChildren(H.skeleton(1));
      try {
        const reply = await H.call("list_corrections", { correction_id: each.correction_id });
        place.replaceChildren(touched(reply));
      } catch (error) {
        place.replaceChildren(H.failed("They could not be loaded.", error));
      }
    } }, H.node("summary", {}, "Answers that it went into"), place);
  }

  function touched(reply) {
    if (!reply.touched.length) return H.node("p", { class: "quiet" }, "None so far.");
    return H.node("div", {}, H.node("p", { class: "quiet" }, `${H.count(reply.answers_touched, "answer")} in all; the last:`),
      H.node("ul", { class: "plain" }, reply.touched.map((answer) =>
        H.node("li", { class: "line" }, H.node("span", {}, answer.question), H.node("span", { class: "quiet" }, H.time(answer.at))))));
  }

  function correction(each, again) {
    return H.node("li", { class: "card", "data-id": each.correction_id },
      H.node("div", { class: "card-head" }, H.node("h3", {}, each.lesson), H.chip("status", each.status === "pending" ? "candidate" : each.status)),
      H.facts(each.topic, H.node("span", {}, `${H.count(each.reports, "report")} by ${H.count(each.reporters, "person", "people")}, first by ${H.who(each.author)}`),
        H.node("span", {}, "changed ", H.time(each.updated_at)), each.decided_by && `decided by ${H.who(each.decided_by)}`),
      each.status_reason && H.node("p", { class: "said" }, each.status_reason),
      H.sideBySide(each.wrong, each.truth, "What was said", "What is so"),
      each.source_url && H.node("p", { class: "address-line" }, "About ", H.link(each.source_url)),
      answers(each),
      H.node("div", { class: "buttons" }, acts(each, again),
        each.draft_document_id && H.node("span", { class: "quiet" }, "There is a draft of it.")));
  }

  H.correctionsView = H.listView({
    tool: "list_corrections",
    items: (reply) => reply.corrections,
    total: () => -1,
    next: (reply) => reply.next_offset,
    draw: correction,
    emptyOf: (reply, state) => {
      const active = reply.active > 0 && state.status !== "active" ? ` ${H.count(reply.active, "correction is", "corrections are")} active; choose Active to see them.` : "";
      return [NONE[state.status], `Corrections that people send wait here until you approve them or give them up.${active}`];
    },
    state: { status: "pending" },
    tools: (state, load) => [H.choice("Show", STATUSES, state.status, (status) => load({ status }))],
  });
})((window.Harry = window.Harry || {}));
