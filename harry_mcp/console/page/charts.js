// Plots as inline SVG, each with a table of the same figures for those who do not see them.
(function (H) {
  "use strict";

  // In pixels, about as they are shown, so that letters keep their size.
  const SIZE = { width: 480, height: 170, left: 36, right: 8, top: 12, bottom: 26 };
  const inner = { width: 0, height: SIZE.height - SIZE.top - SIZE.bottom };

  function fit() {
    SIZE.width = window.innerWidth < 480 ? 310 : 480;
    inner.width = SIZE.width - SIZE.left - SIZE.right;
  }

  // The least round number at or above a value, so that the grid has round labels.
  function roof(value) {
    if (value <= 4) return 4;
    const power = 10 ** Math.floor(Math.log10(value));
    const steps = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((step) => step * power);
    return steps.find((each) => each >= value && Number.isInteger(each / 2));
  }

  const short = (day) => new Date(`${day}T00:00:00Z`).toLocaleDateString("en", { day: "numeric", month: "short", timeZone: "UTC" });

  function frame(label, days, steps, name) {
    fit();
    const plot = H.drawn("svg", { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, role: "img", "aria-label": label, class: "plot" });
    for (const [share, text] of steps) {
      const y = SIZE.top + inner.height * (1 - share);
      plot.append(
        H.drawn("line", { class: "grid", x1: SIZE.left, x2: SIZE.width - SIZE.right, y1: y, y2: y }),
        H.drawn("text", { class: "axis", x: SIZE.left - 6, y: y + 3.5, "text-anchor": "end" }, text));
    }
    days.forEach((day, index) => {
      if ((days.length - 1 - index) % 3) return;
      plot.append(H.drawn("text", { class: "axis", x: middle(index, days.length), y: SIZE.height - 7, "text-anchor": "middle" }, short(day.day)));
    });
    return H.node("figure", { class: "chart" }, H.node("figcaption", {}, name), plot, table(label, days));
  }

  const middle = (index, number) => SIZE.left + (inner.width * (index + 0.5)) / number;

  function table(label, days) {
    const rows = days.map((day) => H.node("tr", {}, H.node("th", { scope: "row" }, day.day), H.node("td", {}, day.searches), H.node("td", {}, day.weak)));
    return H.node("div", { class: "unseen" }, H.node("table", {}, H.node("caption", {}, label),
      H.node("thead", {}, H.node("tr", {}, ["Day", "Searches", "Weak"].map((head) => H.node("th", { scope: "col" }, head)))),
      H.node("tbody", {}, rows)));
  }

  H.searchesChart = function (days) {
    const top = roof(Math.max(...days.map((day) => day.searches), 1));
    const steps = [0, 0.5, 1].map((share) => [share, (share * top).toLocaleString("en")]);
    const legend = ["Searches a day", H.node("span", { class: "key answered" }, "answered"), H.node("span", { class: "key weak" }, "weak, the web was called for")];
    const made = frame("Searches of each of the last 14 days, and how many of them were weak", days, steps, legend);
    const width = Math.min(28, (inner.width / days.length) * 0.62);
    days.forEach((day, index) => {
      const x = middle(index, days.length) - width / 2;
      const bar = (kind, from, number) => number > 0 && H.drawn("rect", {
        class: kind, x, width, rx: 2, y: SIZE.top + inner.height * (1 - (from + number) / top), height: Math.max(1, (inner.height * number) / top),
      });
      const drawn = H.drawn("g", {}, H.drawn("title", {}, `${day.day}: ${day.searches} searches, ${day.weak} weak`),
        bar("weak", 0, day.weak), bar("answered", day.weak, day.searches - day.weak));
      made.querySelector("svg").append(drawn);
    });
    return made;
  };

  H.escalationChart = function (days) {
    const shares = days.map((day) => (day.searches ? day.weak / day.searches : null));
    const highest = Math.max(...shares.map((share) => share || 0), 0.05);
    const top = [0.1, 0.2, 0.4, 0.6, 0.8, 1].find((each) => each >= highest) || 1;
    const steps = [0, 0.5, 1].map((share) => [share, `${Math.round(100 * share * top)}%`]);
    const made = frame("Share of weak searches of each of the last 14 days", days, steps,
      ["Sent to the web", H.node("span", { class: "key rate" }, "share of a day's searches"), H.node("span", { class: "key week" }, "week's average")]);
    const plot = made.querySelector("svg");
    const at = (index, share) => [middle(index, days.length), SIZE.top + inner.height * (1 - share / top)];
    for (const [from, to] of [[0, days.length - 7], [days.length - 7, days.length]]) week(plot, days, from, to, at);
    let path = "";
    shares.forEach((share, index) => {
      if (share === null) return;
      const [x, y] = at(index, share);
      path += `${path && shares[index - 1] !== null ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    });
    if (path) plot.append(H.drawn("path", { class: "rate", d: path }));
    shares.forEach((share, index) => {
      if (share === null) return;
      const [cx, cy] = at(index, share);
      plot.append(H.drawn("circle", { class: "rate", cx, cy, r: 3 }, H.drawn("title", {}, `${days[index].day}: ${H.percent(share)}`)));
    });
    return made;
  };

  function week(plot, days, from, to, at) {
    const part = days.slice(Math.max(0, from), to);
    const searches = part.reduce((sum, day) => sum + day.searches, 0);
    if (!searches) return;
    const share = part.reduce((sum, day) => sum + day.weak, 0) / searches;
    const [x1, y] = at(Math.max(0, from) - 0.4, share);
    const [x2] = at(to - 0.6, share);
    plot.append(H.drawn("line", { class: "week", x1, x2, y1: y, y2: y }, H.drawn("title", {}, `week's average: ${H.percent(share)}`)));
  }

  // Bars of one length each, for few kinds of things.
  H.bars = function (rows) {
    const most = Math.max(...rows.map((row) => row.number), 1);
    return H.node("ul", { class: "bars" }, rows.map((row) =>
      H.node("li", {}, H.node("span", { class: "bar-name" }, row.name),
        H.drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: `meter ${row.kind || ""}`, "aria-hidden": "true" },
          H.drawn("rect", { x: 0, y: 0, height: 10, width: Math.max(1, (100 * row.number) / most), rx: 1 })),
        H.node("span", { class: "bar-number" }, row.number.toLocaleString("en")))));
  };
})((window.Harry = window.Harry || {}));
