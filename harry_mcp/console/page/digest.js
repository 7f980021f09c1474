// How the knowledge base does: what waits, what it could not answer, what was said against documents.
(function (H) {
  "use strict";

  const latest = H.latest();
  let place = null;

  const tile = (number, label, note, go) => H.node(go ? "button" : "div", { class: "tile", type: go && "button", onclick: go },
    H.node("span", { class: "figure" }, number), H.node("span", { class: "label" }, label), note && H.node("span", { class: "note" }, note));

  function tiles(digest) {
    const { waiting, escalation } = digest;
    const flags = digest.events.filter((each) => each.event === "flag").reduce((sum, each) => sum + each.number, 0);
    return H.node("div", { class: "tiles" },
      tile(waiting.total.toLocaleString("en"), "wait for you", `${waiting.flagged_documents} flagged, ${waiting.pending_documents} drafts`, () => H.goTo("flagged")),
      tile(escalation.rate < 0 ? "–" : H.percent(escalation.rate), "sent to the web in 7 days", trend(escalation)),
      tile(escalation.searches.toLocaleString("en"), "searches in 7 days", `${escalation.weak} weak`),
      tile(flags.toLocaleString("en"), H.count(flags, "signal").replace(/^\S+ /, "") + " in 24 hours", "against documents"),
      tile(waiting.corrections.toLocaleString("en"), "corrections wait", "", () => H.goTo("corrections")),
      tile((waiting.verified_candidates + waiting.verified_held).toLocaleString("en"), "official answers wait",
        waiting.verified_held ? `${waiting.verified_held} held back` : "", () => H.goTo("verified")));
  }

  function trend({ comparable, change }) {
    if (!comparable) return "nothing to compare with";
    const points = (100 * Math.abs(change)).toFixed(1);
    if (points === "0.0") return "as in the week before";
    return H.node("span", { class: change > 0 ? "worse" : "better" }, `${change > 0 ? "▲" : "▼"} ${points} points ${change > 0 ? "more" : "less"} than the week before`);
  }

  function box(title, advice, ...content) {
    const filled = content.flat().filter(Boolean);
    return H.node("section", { class: "box" }, H.node("h3", {}, title), filled.length ? filled : H.node("p", { class: "quiet" }, advice));
  }

  function events(digest) {
    const named = (each) => (each.signal ? `${H.named("action", each.event)}: ${H.named("signal", each.signal).toLowerCase()}` : H.named("action", each.event));
    const rows = digest.events.map((each) => ({ name: named(each), number: each.number, kind: each.event }));
    const more = [[digest.web_searches, "web search", "web searches"], [digest.verified_served, "official answer served", "official answers served"],
      [digest.corrections_submitted, "correction sent", "corrections sent"]].filter(([number]) => number).map((each) => H.count(...each));
    return box("Last 24 hours", "Nothing happened to documents.", rows.length > 0 && H.bars(rows), more.length > 0 && H.facts(more));
  }

  function noGaps({ searches, weak }) {
    if (searches <= 0) return "Nothing was asked.";
    return weak > 0 ? `No gap was opened. The filters of ${H.count(weak, "weak search", "weak searches")} left nothing to search.` : "No question went unanswered.";
  }

  function gaps(digest) {
    return box("Asked most without an answer, 7 days", noGaps(digest.escalation), digest.gaps.length > 0 &&
      H.node("ol", { class: "ranked" }, digest.gaps.map((gap) => H.node("li", {}, H.node("span", { class: "name" }, gap.question),
        H.node("span", { class: "quiet" }, [gap.topic, `best score ${gap.best_score.toFixed(2)}`].filter(Boolean).join(" · ")),
        H.node("span", { class: "big" }, `${gap.asked}×`)))), digest.gaps.length > 0 && H.button("All gaps", () => H.goTo("gaps"), { class: "button slim" }));
  }

  function flagged(digest) {
    return box(`Most said against, ${digest.flagged_days} days`, "Nothing was said against a document.", digest.most_flagged.length > 0 &&
      H.node("ol", { class: "ranked" }, digest.most_flagged.map((each) => H.node("li", {},
        H.node("span", { class: "name" }, H.link(each.url, each.title || each.document_id, each.url ? {} : { class: "name" })),
        H.node("span", { class: "row-chips" }, each.signals.map((signal) => H.chip("signal", signal)), H.node("span", { class: "quiet" }, H.time(each.last_at))),
        H.node("span", { class: "big" }, `${each.flags}×`)))));
  }

  function feedback(digest) {
    const rows = digest.feedback.map((each) => ({
      name: each.rating === "up" ? "Helpful" : `Not helpful${each.reason ? `: ${each.reason.replace(/_/g, " ")}` : ""}`, number: each.number, kind: each.rating,
    }));
    return box("Verdicts on answers, 7 days", "Nobody judged an answer.", rows.length > 0 && H.bars(rows));
  }

  function drawn(digest) {
    return H.node("div", { class: "digest" },
      H.node("p", { class: "headline" }, digest.headline),
      tiles(digest),
      H.node("div", { class: "charts" }, H.searchesChart(digest.days), H.escalationChart(digest.days)),
      H.node("div", { class: "boxes" }, H.node("div", {}, events(digest), gaps(digest)), H.node("div", {}, flagged(digest), feedback(digest))),
      H.node("p", { class: "quiet" }, "Counted back from ", new Date(digest.until).toLocaleString("en"), "."));
  }

  async function load(quiet) {
    const current = latest.begin();
    if (!quiet) place.replaceChildren(H.skeleton(5));
    place.setAttribute("aria-busy", "true");
    try {
      const digest = await H.call("curation_digest", { top: 5 });
      if (current()) place.replaceChildren(drawn(digest));
    } catch (error) {
      if (current()) place.replaceChildren(H.failed("The digest could not be loaded.", error, () => load()));
    } finally {
      if (current()) place.removeAttribute("aria-busy");
    }
  }

  H.digestView = {
    show(panel) {
      place = H.node("div", {});
      const tools = H.node("div", { class: "tools" }, H.button("Refresh", () => load(true)), H.button("Check for rot now", () => H.checkForRot(), { title: "Runs the checks that flag doubtful documents" }));
      panel.replaceChildren(H.node("div", { class: "column" }, tools, place));
      return load();
    },
    hide: () => latest.drop(),
    changed: () => load(true),
  };
})((window.Harry = window.Harry || {}));
