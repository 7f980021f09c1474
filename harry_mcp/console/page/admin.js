// How tools are called at /admin: over HTTP, with the session's cookie and the token of this page.
(function (H) {
  "use strict";

  if (document.documentElement.dataset.mode !== "admin") return;

  let csrf = document.querySelector("meta[name=harry-csrf]").content;
  let signingIn = null;

  async function post(path, body, type) {
    try {
      return await fetch(path, {
        method: "POST", body, credentials: "same-origin", cache: "no-store",
        headers: { "Accept": "application/json", "Content-Type": type, "X-Harry-CSRF": csrf },
      });
    } catch {
      throw new Error("The server cannot be reached. See whether it still runs, then try again.");
    }
  }

  async function call(tool, args) {
    const answer = await post("/admin/call", JSON.stringify({ tool, arguments: args }), "application/json");
    let told = {};
    try {
      told = await answer.json();
    } catch {
      throw new Error(`The server answered ${answer.status} and nothing that can be read. Its log says why.`);
    }
    if (told.ok) return told.result;
    if (answer.status === 401 && told.login) {
      signingIn = signingIn || signIn(told.error).finally(() => { signingIn = null; });
      if (await signingIn) return call(tool, args);
      throw new Error("You are signed out, so nothing was done.");
    }
    throw new Error(told.error || `The server answered ${answer.status}.`);
  }

  // Asks for the token right here, so that nothing that was typed or chosen is lost.
  function signIn(why) {
    return H.dialog("Your session has ended", ({ body, buttons, close }) => {
      const token = H.node("input", { type: "password", autocomplete: "current-password", spellcheck: "false", "data-first": true });
      const fault = H.node("p", { class: "fault", role: "alert" });
      const go = H.button("Sign in", null, { class: "button primary", type: "submit", form: "sign-in-again" });
      const send = async (event) => {
        event.preventDefault();
        go.disabled = true;
        fault.textContent = await refusalOf(token.value);
        go.disabled = false;
        if (!fault.textContent) close(true);
        else token.focus();
      };
      body.append(
        H.node("form", { id: "sign-in-again", onsubmit: send },
          H.node("p", {}, `${why} What you chose and typed is still here.`),
          H.labelled("Token", token), fault),
      );
      buttons.append(H.button("Not now", () => close(false)), go);
    });
  }

  // Empty when the token was taken; the new session's page brings the new token for requests.
  async function refusalOf(token) {
    try {
      const answer = await post("/admin/login", new URLSearchParams({ token }), "application/x-www-form-urlencoded");
      if (!answer.ok) return (await answer.json().catch(() => ({}))).error || `The server answered ${answer.status}.`;
      // Read as text: the policy of this page holds for a parsed one too, and the other has another nonce.
      const found = /<meta name="harry-csrf" content="([\w-]+)">/.exec(await answer.text());
      if (!found) return "The server took the token and did not let you in. Load the page again.";
      csrf = found[1];
      return "";
    } catch (error) {
      return error.message;
    }
  }

  async function leave() {
    try {
      await post("/admin/logout", "", "application/x-www-form-urlencoded");
    } finally {
      location.assign("/admin");
    }
  }

  H.transport = { call, leave, ready: () => Promise.resolve(), perPage: 25 };
})((window.Harry = window.Harry || {}));
