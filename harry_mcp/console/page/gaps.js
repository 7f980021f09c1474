// Questions that the knowledge base could not answer.
(function (H) {
  "use strict";

  const WEB = {
    not_asked: ["The web was not asked yet", "Ask your agent to look it up, or write a page that answers it."],
    found: ["The web has pages on it", "Read them; what answers the question can be ingested."],
    nothing: ["The web has nothing either", "Somebody who knows has to write it down."],
    failed: ["The web could not be asked", "Web search is not set up, or did not answer."],
  };

  function gap(each) {
    const [found, advice] = WEB[each.web] || WEB.not_asked;
    return H.node("li", { class: "card gap" },
      H.node("div", { class: "card-head" },
        H.node("h3", {}, each.question),
        H.node("span", { class: "big", title: "How often it was asked" }, `${each.occurrences.toLocaleString("en")}×`)),
      H.facts(each.topic, `best score ${each.best_score.toFixed(2)}`, H.node("span", {}, "last asked ", H.time(each.last_seen_at)),
        H.node("span", {}, "first asked ", H.time(each.first_seen_at))),
      H.node("p", { class: "advice" }, H.node("strong", {}, `${found}. `), advice),
      each.web_results.length > 0 && H.node("ul", { class: "links" }, each.web_results.map((page) =>
        H.node("li", {}, H.link(page.url, page.title || page.url)))));
  }

  H.gapsView = H.listView({
    tool: "list_gaps",
    items: (reply) => reply.gaps,
    total: (reply) => reply.total,
    next: (reply, offset, size) => (offset + reply.gaps.length < reply.total ? offset + size : -1),
    draw: gap,
    empty: ["No gaps", "Questions that find no good answer will be collected here, the most asked first."],
    state: { order: "most_asked", topic: "" },
    tools: (state, load) => {
      const topic = H.node("input", { type: "search", placeholder: "Begins with…", maxlength: 200, value: state.topic,
        oninput: H.paused(() => load({ topic: topic.value.trim() })) });
      return [
        H.choice("Order", [["most_asked", "Most asked first"], ["latest", "Latest first"]], state.order, (order) => load({ order })),
        H.labelled("Topic", topic),
      ];
    },
  });
})((window.Harry = window.Harry || {}));
