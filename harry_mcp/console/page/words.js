// What things are called on the page, in plain words.
(function (H) {
  "use strict";

  H.words = {
    status: {
      pending: "Draft", live: "Live", flagged: "Flagged", archived: "Archived", rejected: "Rejected",
      candidate: "Waiting", active: "Active", retired: "Retired", held: "Held back", deprecated: "Given up",
    },
    signal: {
      stale: "Out of date", contradiction: "Contradicted", dead_source: "Source gone",
      negative_feedback: "Complaint", draft: "Draft",
    },
    // What a button says, what was done, and what it means.
    action: {
      approve: ["Approve", "approved", "Readers see it, without a caveat."],
      archive: ["Archive", "archived", "It leaves every search and is kept."],
      restore: ["Restore", "restored", "It goes back to what it was."],
      keep: ["Keep flagged", "kept flagged", "It stays flagged and moves down the queue."],
      rewrite: ["Rewrite", "rewritten", "It gets a new text or title; the old one is kept."],
      reject: ["Reject", "rejected", "The draft is not wanted."],
      undo: ["Undo", "put back", "An earlier act was taken back."],
      deprecate: ["Give up", "given up", "It reaches no answer any more; it is kept."],
      reopen: ["Let it wait", "waiting again", "It waits for a decision once more."],
      withdraw: ["Taken back", "taken back", "What was said against it counts no more."],
      recovered: ["Source back", "source back", "Its source answers again."],
      remove: ["Remove", "removed", "It was removed for good."],
      promote: ["Make a draft", "made a draft", "It becomes a draft document that waits for review."],
      retire: ["Retire", "retired", "It is not served any more; it is kept."],
      never_serve: ["Never for…", "barred", "It must never answer a question that you name."],
      flag: ["Flag", "flagged", "Something was said against it."],
      draft: ["Draft", "drafted", "A draft was made."],
    },
    band: { strong: "strong", moderate: "moderate", weak: "weak" },
    role: { reader: "reader", contributor: "contributor", curator: "curator", admin: "admin" },
  };

  H.count = function (number, one, many) {
    return number.toLocaleString("en") + " " + (number === 1 ? one : many || one + "s");
  };

  // "ann", and through what where that is not this page.
  H.who = function (actor) {
    const [, way, name] = /^([a-z]+):([\s\S]+)$/.exec(actor) || [];
    return name ? (way === "http" ? name : `${name} via ${way}`) : actor;
  };

  H.sentence = (text) => (/^https?:/i.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1));

  H.percent = function (share) {
    return (100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0) + " %";
  };

  const UNITS = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];

  // "3 days ago", for a moment in ISO 8601.
  H.ago = function (moment) {
    const seconds = (Date.now() - Date.parse(moment)) / 1000;
    if (!moment || Number.isNaN(seconds)) return "";
    for (const [unit, length] of UNITS) {
      const number = Math.floor(seconds / length);
      if (number >= 1) return H.count(number, unit) + " ago";
    }
    return "just now";
  };

  H.named = function (kind, key) {
    const words = H.words[kind] || {};
    const found = Object.prototype.hasOwnProperty.call(words, key) ? words[key] : "";
    if (Array.isArray(found)) return found[0];
    return found || String(key || "").replace(/_/g, " ");
  };

  H.done = function (action) {
    const found = Object.prototype.hasOwnProperty.call(H.words.action, action) ? H.words.action[action] : null;
    return found ? found[1] : String(action).replace(/_/g, " ");
  };
})((window.Harry = window.Harry || {}));
