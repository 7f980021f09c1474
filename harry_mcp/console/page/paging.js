// A page at a time: from where, how many, and on to the next.
(function (H) {
  "use strict";

  // ``total`` is -1 where nobody counts; ``next`` is the next page's offset, -1 at the end.
  H.pager = function ({ offset, shown, total, next, size, go }) {
    if (!shown && !offset) return null;
    const back = H.button("Previous", () => go(Math.max(0, offset - size)), { disabled: offset === 0, "data-page": "back" });
    const on = H.button("Next", () => go(next), { disabled: next < 0, "data-page": "on" });
    const single = offset === 0 && next < 0;
    const range = `${(offset + 1).toLocaleString("en")}–${(offset + shown).toLocaleString("en")}`;
    const told = total >= 0 ? `${range} of ${total.toLocaleString("en")}` : range;
    return H.node("nav", { class: "pager", "aria-label": "Pages" },
      !single && back, H.node("span", { class: "range", role: "status" }, shown ? told : "Nothing on this page"),
      jump(offset, total, size, go), !single && on);
  };

  function jump(offset, total, size, go) {
    const pages = Math.ceil(total / size);
    if (total < 0 || pages < 3) return null;
    const box = H.node("input", {
      type: "number", min: 1, max: pages, value: String(Math.floor(offset / size) + 1), "aria-label": `Page, 1 to ${pages}`,
      onchange: () => go((Math.min(pages, Math.max(1, Math.round(Number(box.value)) || 1)) - 1) * size),
    });
    return H.node("span", { class: "jump" }, "Page ", box, ` of ${pages.toLocaleString("en")}`);
  }

  // Calls ``act`` once typing has paused.
  H.paused = function (act, milliseconds = 300) {
    let timer = 0;
    return (...given) => {
      clearTimeout(timer);
      timer = setTimeout(() => act(...given), milliseconds);
    };
  };

  // Only the last of several loads is shown: a slow answer must not replace a later one.
  H.latest = function () {
    let number = 0;
    return {
      begin: () => {
        const mine = ++number;
        return () => mine === number;
      },
      drop: () => { number++; },
    };
  };
})((window.Harry = window.Harry || {}));
