// How tools are called inside a host of MCP Apps: JSON-RPC 2.0 over messages to the window that holds this page.
(function (H) {
  "use strict";

  if (document.documentElement.dataset.mode !== "app") return;

  const VERSION = "2026-01-26";
  const SECONDS = 180;
  const TALLEST = 760;
  const waiting = new Map();
  const context = {};
  let capabilities = {};
  let origin = "*"; // the host's, once it answered
  let number = 0;

  const send = (message) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, origin);
  const notify = (method, params) => send({ method, params: params || {} });

  function request(method, params) {
    const id = ++number;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        waiting.delete(id);
        reject(new Error("The host did not answer in time. Try again."));
      }, SECONDS * 1000);
      waiting.set(id, { resolve, reject, late });
      send({ id, method, params });
    });
  }

  window.addEventListener("message", (event) => {
    if (event.source !== window.parent || window.parent === window) return;
    if (origin !== "*" && event.origin !== origin) return;
    const message = event.data;
    if (!message || message.jsonrpc !== "2.0") return;
    if (message.method === undefined) answered(message, event.origin);
    else if (message.id === undefined) told(message.method, message.params || {});
    else asked(message);
  });

  function answered(message, from) {
    const open = waiting.get(message.id);
    if (!open) return;
    waiting.delete(message.id);
    clearTimeout(open.late);
    if (from && from !== "null") origin = from;
    if (message.error) open.reject(new Error(message.error.message || "The host refused the call."));
    else open.resolve(message.result || {});
  }

  function told(method, params) {
    if (method === "ui/notifications/host-context-changed") adopt(params);
  }

  function asked({ id, method }) {
    if (method === "ping" || method === "ui/resource-teardown") send({ id, result: {} });
    else send({ id, error: { code: -32601, message: "This page has no such method." } });
  }

  // The host's theme, colours and fonts, and the room that there is.
  function adopt(changed) {
    Object.assign(context, changed);
    const root = document.documentElement;
    if (changed.theme === "light" || changed.theme === "dark") root.dataset.theme = changed.theme;
    const variables = (changed.styles && changed.styles.variables) || {};
    for (const [name, value] of Object.entries(variables)) {
      if (/^--[a-z0-9-]+$/.test(name) && typeof value === "string" && !/url\s*\(/i.test(value)) root.style.setProperty(name, value);
    }
    if (changed.safeAreaInsets) {
      for (const side of ["top", "right", "bottom", "left"]) {
        document.body.style.setProperty(`padding-${side}`, `${Number(changed.safeAreaInsets[side]) || 0}px`);
      }
    }
    if (H.drawTools) H.drawTools();
  }

  // Not taller than the host's room, or than a screen: the page scrolls in itself, or its bar and messages are far off.
  function reportSize() {
    let last = "";
    const report = () => {
      const most = (context.containerDimensions && context.containerDimensions.maxHeight) || TALLEST;
      const { width, height } = document.body.getBoundingClientRect();
      const size = { width: Math.ceil(width), height: Math.min(Math.ceil(height), most) };
      if (last === `${size.width}x${size.height}`) return;
      last = `${size.width}x${size.height}`;
      notify("ui/notifications/size-changed", size);
    };
    new ResizeObserver(() => requestAnimationFrame(report)).observe(document.body);
  }

  async function ready() {
    const started = await request("ui/initialize", {
      protocolVersion: VERSION,
      appInfo: { name: "harry-curation", title: "Curation", version: "1" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    });
    capabilities = started.hostCapabilities || {};
    adopt(started.hostContext || {});
    notify("ui/notifications/initialized");
    reportSize();
  }

  async function call(name, args) {
    const result = await request("tools/call", { name, arguments: args });
    if (result.isError || !result.structuredContent) {
      const words = (result.content || []).map((block) => block.text || "").join(" ").trim();
      throw new Error(words || "The tool gave no answer that this page can show.");
    }
    return result.structuredContent;
  }

  // True when the host opens the link; a sandbox may keep this page from doing so.
  function open(url) {
    if (!capabilities.openLinks) return false;
    request("ui/open-link", { url }).catch((error) => H.toast.error("The link could not be opened.", error));
    return true;
  }

  const modes = () => context.availableDisplayModes || [];

  async function show(mode) {
    const result = await request("ui/request-display-mode", { mode });
    adopt({ displayMode: result.mode || mode });
  }

  H.transport = {
    call, ready, open, perPage: 10,
    // The other way to be shown that the host offers, if it does.
    otherMode: () => {
      const wanted = context.displayMode === "fullscreen" ? "inline" : "fullscreen";
      return modes().includes(wanted) ? wanted : "";
    },
    show,
  };
})((window.Harry = window.Harry || {}));
