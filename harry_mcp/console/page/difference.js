// What differs between two passages, word by word, and between two texts, paragraph by paragraph.
(function (H) {
  "use strict";

  const MOST = 4000000; // cells of the table; above it the middle is taken as changed altogether

  // Runs of [kind, items]: "same", "out" (only in the first) and "in" (only in the second).
  function runs(first, second) {
    let head = 0;
    while (head < first.length && head < second.length && first[head] === second[head]) head++;
    let tail = 0;
    while (
      tail < first.length - head && tail < second.length - head &&
      first[first.length - 1 - tail] === second[second.length - 1 - tail]
    ) tail++;
    const found = [];
    const add = (kind, items) => {
      if (!items.length) return;
      const last = found[found.length - 1];
      if (last && last[0] === kind) last[1].push(...items);
      else found.push([kind, [...items]]);
    };
    add("same", first.slice(0, head));
    middle(first.slice(head, first.length - tail), second.slice(head, second.length - tail), add);
    add("same", first.slice(first.length - tail));
    return found;
  }

  // By the longest common subsequence.
  function middle(first, second, add) {
    const width = second.length + 1;
    if (!first.length || !second.length || (first.length + 1) * width > MOST) {
      add("out", first);
      add("in", second);
      return;
    }
    const length = new Uint32Array((first.length + 1) * width);
    for (let i = first.length - 1; i >= 0; i--) {
      for (let j = second.length - 1; j >= 0; j--) {
        length[i * width + j] = first[i] === second[j]
          ? length[(i + 1) * width + j + 1] + 1
          : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
      }
    }
    let i = 0;
    let j = 0;
    while (i < first.length && j < second.length) {
      if (first[i] === second[j]) {
        add("same", [first[i++]]);
        j++;
      } else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) add("out", [first[i++]]);
      else add("in", [second[j++]]);
    }
    add("out", first.slice(i));
    add("in", second.slice(j));
  }

  const words = (text) => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) || [];

  // Both passages as children of two elements, with what only one of them has marked.
  function marked(before, after, [leftTag, rightTag]) {
    const left = [];
    const right = [];
    for (const [kind, items] of runs(words(before), words(after))) {
      const text = items.join("");
      if (kind !== "in") left.push(kind === "same" ? text : H.node(leftTag, {}, text));
      if (kind !== "out") right.push(kind === "same" ? text : H.node(rightTag, {}, text));
    }
    return [left, right];
  }

  // Two passages; ``apart``: of two documents, of which neither is the earlier or the wrong one.
  H.sideBySide = function (before, after, leftName, rightName, { apart = false } = {}) {
    const tags = apart ? ["mark", "mark"] : ["del", "ins"];
    const [left, right] = before && after ? marked(before, after, tags) : [[before], [after]];
    const side = (name, parts, kind) =>
      H.node("div", { class: `side ${kind}` }, H.node("h4", {}, name),
        H.node("p", { class: "passage" }, parts.join && parts.join("") === "" ? H.node("em", {}, "Nothing there.") : parts));
    return H.node("div", { class: "pair" }, side(leftName, left, "was"), side(rightName, right, "is"));
  };

  // Two texts: a list of pairs, one for each run of paragraphs that changed.
  H.changedParts = function (before, after) {
    const split = (text) => text.split(/\n{2,}|\n/).map((line) => line.trimEnd()).filter(Boolean);
    const pairs = [];
    let out = [];
    let into = [];
    const close = () => {
      if (out.length || into.length) pairs.push([out.join("\n"), into.join("\n")]);
      out = [];
      into = [];
    };
    for (const [kind, items] of runs(split(before), split(after))) {
      if (kind === "same") close();
      else if (kind === "out") out.push(...items);
      else into.push(...items);
    }
    close();
    return pairs;
  };
})((window.Harry = window.Harry || {}));
