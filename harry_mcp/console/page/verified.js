// Official answers: candidates, active ones, and those that are held back.
(function (H) {
  "use strict";

  const STATUSES = [["candidate", "Waiting"], ["active", "Active"], ["held", "Held back"], ["retired", "Retired"], ["rejected", "Rejected"], ["all", "All"]];
  const SUMMARY = {
    approve: "Approved: it is the official answer from now on.",
    reject: "Rejected. It can be approved again.",
    retire: "Retired: it is not served any more, and can be approved again.",
    never_serve: "Remembered: it never answers that question.",
  };

  async function send(each, action, more, again) {
    await H.call("review_verified", { response_id: each.response_id, action, ...more });
    H.toast(SUMMARY[action], { kind: "good" });
    H.refreshCounts();
    again();
  }

  const reword = (each, again) => async () => {
    const answer = await H.askText({
      title: "Approve in other words", advice: each.question, label: "The official answer", act: "Approve", text: each.answer, rows: 8, most: 8000,
    });
    if (answer) await send(each, "approve", answer === each.answer ? {} : { answer }, again);
  };

  const bar = (each, again) => async () => {
    const question = await H.askText({
      title: "Never answer with it…", advice: `“${each.answer.slice(0, 200)}” will never be given for the question that you name.`,
      label: "The question", act: "Bar it", rows: 2,
    });
    if (question) await send(each, "never_serve", { question }, again);
  };

  function acts(each, again) {
    const run = (action) => () => send(each, action, {}, again);
    const offered = {
      candidate: ["approve", "reword", "reject"], active: ["retire", "never_serve"], retired: ["approve", "reword"], rejected: ["approve", "reword"],
    }[each.status];
    if (each.status === "active" && each.held) offered.unshift("approve", "reword");
    return offered.map((action) => {
      if (action === "reword") return H.button("Reword and approve", () => reword(each, again)().catch((error) => H.toast.error("It was not approved.", error)));
      if (action === "never_serve") return H.deciding(action, { run: bar(each, again) });
      return H.deciding(action, { primary: action === "approve", run: run(action) });
    });
  }

  function entry(each, again) {
    return H.node("li", { class: "card", "data-id": each.response_id },
      H.node("div", { class: "card-head" }, H.node("h3", {}, each.question), H.chip("status", each.held && each.status === "active" ? "held" : each.status)),
      H.facts(`served ${H.count(each.uses, "time")}`, each.negatives > 0 && H.count(each.negatives, "complaint"), `proposed by ${H.who(each.submitted_by)}`,
        each.approved_by && H.node("span", {}, `approved by ${H.who(each.approved_by)} `, H.time(each.approved_at)), H.node("span", {}, "changed ", H.time(each.updated_at))),
      each.held && H.node("p", { class: "notice" }, each.held),
      H.node("p", { class: "answer" }, each.answer),
      each.sources.length > 0 && H.node("ul", { class: "links" }, each.sources.map((source) =>
        H.node("li", {}, source.url ? H.link(source.url, source.title || source.url) : source.title))),
      H.node("div", { class: "buttons" }, acts(each, again)));
  }

  H.verifiedView = H.listView({
    tool: "list_verified",
    items: (reply) => reply.entries,
    total: () => -1,
    next: (reply) => reply.next_offset,
    draw: entry,
    empty: ["No official answers here", "Answers that people praise become candidates, and wait here for your approval."],
    state: { status: "candidate" },
    tools: (state, load) => [H.choice("Show", STATUSES, state.status, (status) => load({ status }))],
  });
})((window.Harry = window.Harry || {}));
