// The checks that flag doubtful documents, run now instead of at night.
(function (H) {
  "use strict";

  const STATE = { done: "Done", partial: "Not finished", busy: "Running elsewhere", failed: "Failed" };

  function check(each) {
    const precise = each.precision >= 0 ? `right so far in ${H.percent(each.precision)} of cases` : "nobody judged its flags yet";
    return H.node("li", { class: "card" },
      H.node("div", { class: "card-head" }, H.node("h3", {}, H.chip("signal", each.signal)), H.node("span", { class: "quiet" }, STATE[each.state] || each.state)),
      H.facts(`${each.examined.toLocaleString("en")} looked at`, each.left > 0 && `${each.left.toLocaleString("en")} left`,
        H.node("strong", {}, `${each.flagged} newly flagged`), each.logged > 0 && `${each.logged} more noted`, precise),
      each.error && H.node("p", { class: "fault" }, each.error),
      each.examples.length > 0 && H.node("ul", { class: "plain" }, each.examples.slice(0, 5).map((one) =>
        H.node("li", { class: "line" }, H.node("span", {}, one.title || one.document_id), H.node("span", { class: "quiet" }, one.why)))));
  }

  H.checkForRot = function () {
    return H.dialog("Check for rot", ({ body, buttons, close }) => {
      const shown = H.node("div", { role: "status" });
      const again = H.button("Go on", () => run(), { class: "button primary", hidden: true });
      const run = async () => {
        again.hidden = true;
        shown.replaceChildren(H.node("p", {}, "The checks run; this takes up to half a minute…"), H.skeleton(3));
        try {
          const reply = await H.call("run_rot_checks", { seconds: 20 });
          shown.replaceChildren(
            H.node("p", { class: "headline" }, reply.flagged ? `${H.count(reply.flagged, "document is", "documents are")} newly flagged.` : "Nothing new was found."),
            H.node("ul", { class: "cards" }, reply.checks.map(check)));
          again.hidden = !reply.checks.some((each) => each.state === "partial");
          H.refreshCounts();
        } catch (error) {
          shown.replaceChildren(H.failed("The checks could not be run.", error, run));
        }
      };
      body.append(H.node("p", { class: "quiet" }, "Looks for documents that are out of date, contradicted, gone at their source, or complained about."), shown);
      buttons.append(again, H.button("Close", () => close(), { "data-first": true }));
      run();
    }, { onclose: () => H.changed([]) });
  };
})((window.Harry = window.Harry || {}));
