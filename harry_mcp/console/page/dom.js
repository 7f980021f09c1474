// Elements are made here and nowhere else. Text is text: no markup of a document ever becomes markup of the page.
(function (H) {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";

  function filled(made, properties, children) {
    for (const [name, value] of Object.entries(properties || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (name === "value" || name === "checked" || name === "indeterminate") made[name] = value;
      else made.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(Infinity)) {
      if (child === undefined || child === null || child === false || child === "") continue;
      made.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
    return made;
  }

  H.node = function (tag, properties, ...children) {
    return filled(document.createElement(tag), properties, children);
  };

  H.drawn = function (tag, properties, ...children) {
    return filled(document.createElementNS(SVG, tag), properties, children);
  };

  H.button = function (label, onclick, properties) {
    return H.node("button", { type: "button", class: "button", onclick, ...properties }, label);
  };

  // A link for http and https, and plain text for any other address.
  H.link = function (address, label, properties) {
    let target = null;
    try {
      target = new URL(address);
    } catch {
      target = null;
    }
    if (!target || !/^https?:$/.test(target.protocol)) {
      return H.node("span", { class: "address", ...properties }, label || address);
    }
    const onclick = (event) => {
      if (H.transport.open && H.transport.open(target.href)) event.preventDefault();
    };
    return H.node(
      "a",
      { href: target.href, target: "_blank", rel: "noopener noreferrer", title: target.href, onclick, ...properties },
      label || address,
    );
  };

  H.chip = function (kind, key, properties) {
    return H.node("span", { class: `chip ${kind}-${String(key).replace(/[^a-z_]/g, "")}`, ...properties }, H.named(kind, key));
  };

  H.time = function (moment) {
    const exact = moment ? new Date(moment).toLocaleString() : "";
    return H.node("time", { datetime: moment, title: exact }, H.ago(moment));
  };

  // Facts in one line, with dots between them; empty ones are left out.
  H.facts = function (...facts) {
    const shown = facts.flat().filter(Boolean);
    return H.node("p", { class: "facts" }, shown.map((fact) => H.node("span", {}, fact)));
  };

  H.empty = function (title, advice, ...more) {
    return H.node("div", { class: "empty" }, H.node("h2", {}, title), H.node("p", {}, advice), ...more);
  };

  H.skeleton = function (rows) {
    const lines = Array.from({ length: rows }, () =>
      H.node("div", { class: "ghost", "aria-hidden": "true" }, H.node("i"), H.node("i"), H.node("i")));
    return H.node("div", { class: "ghosts" }, H.node("p", { class: "unseen" }, "Loading…"), lines);
  };

  H.failed = function (what, error, again) {
    return H.node(
      "div",
      { class: "notice bad", role: "alert" },
      H.node("p", {}, H.node("strong", {}, what), " ", error.message),
      again && H.button("Try again", again),
    );
  };

  H.labelled = function (label, control, properties) {
    return H.node("label", { class: "field", ...properties }, H.node("span", {}, label), control);
  };

  H.choice = function (label, options, value, onchange) {
    const control = H.node(
      "select",
      { onchange: () => onchange(control.value) },
      options.map(([key, text]) => H.node("option", { value: key, selected: key === value }, text)),
    );
    return H.labelled(label, control);
  };

  H.byId = (id) => document.getElementById(id);
})((window.Harry = window.Harry || {}));
