// Rankfield: comfort on top of pages that work without it.  No page needs a line of this.
"use strict";

const root = document.documentElement;
root.classList.add("scripted");
const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// Appearance: as the system, light or dark.  This file loads before the first paint for its sake.
const THEMES = { "": "as the system", light: "light", dark: "dark" };
const stored = () => { try { return localStorage.theme || ""; } catch { return ""; } };
function wear(theme) {
  if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
  try { localStorage.theme = theme; } catch { /* a private window keeps nothing */ }
  all("[data-theme-switch] b").forEach((word) => { word.textContent = THEMES[theme]; });
}
wear(stored());
document.addEventListener("DOMContentLoaded", () => {
  wear(stored());
  all("form[data-upload]").forEach(upload);
});

// A second click, while the page that answers the first is on its way, sends nothing.
const ON_ITS_WAY = 3000;
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
  setTimeout(() => { delete form.dataset.sent; }, ON_ITS_WAY);
});

// What was typed outlives a session that ended meanwhile: it waits in this tab while its reader signs
// in, and is put back on the page of its form.  Passwords and files are not kept.
const KEPT = "unsent form";
const isAccountPage = () => location.pathname.startsWith("/account/");
document.addEventListener("submit", ({ target: form }) => {
  if (form.getAttribute("method") !== "post" || isAccountPage() || !form.closest("main")) return;
  const values = {};
  for (const [name, value] of new FormData(form)) if (typeof value === "string" && name !== "csrfmiddlewaretoken") (values[name] ??= []).push(value);
  const kept = { page: location.pathname + location.search, place: postForms().indexOf(form), values };
  try { sessionStorage.setItem(KEPT, JSON.stringify(kept)); } catch { /* a private window keeps nothing */ }
}, true);
const postForms = () => all("main form[method=post]");
function restore() {
  let kept = null;
  try { kept = JSON.parse(sessionStorage.getItem(KEPT)); } catch { /* nothing is kept */ }
  if (!kept) return;
  if (isAccountPage()) { sessionStorage.setItem(KEPT, JSON.stringify({ ...kept, signsIn: true })); return; }
  sessionStorage.removeItem(KEPT);
  const form = postForms()[kept.place];
  if (!kept.signsIn || kept.page !== location.pathname + location.search || !form) return;
  all("input, textarea, select", form).filter(({ name, type }) => name && !["hidden", "file", "password"].includes(type)).forEach((field) => fill(field, kept.values[field.name] ?? []));
  errorsOf(form).replaceChildren(make("div", { className: "notice info", role: "status" }, sign("info"), make("div", {},
    make("b", { textContent: "What you entered is back, and is not sent yet." }), one("[type=file]", form) ? " Choose the file again, then send the form." : " Check it, then send the form.")));
}
function fill(field, values) {
  if (["checkbox", "radio"].includes(field.type)) field.checked = values.includes(field.value);
  else if (field.multiple) [...field.options].forEach((option) => { option.selected = values.includes(option.value); });
  else if (values.length) [field.value] = values;
  for (let fold = field.closest("details:not([open])"); fold && values.some(Boolean); fold = fold.parentElement.closest("details:not([open])")) fold.open = true;
}
document.addEventListener("DOMContentLoaded", restore);

// Keys: / goes to the search, arrows to the neighbour of a topic, Escape closes a menu.
const MENUS = "details.menu[open], details.columns[open]";
// A closed menu hides the field that had the focus, so its name takes that over.
function shut(menu) {
  if (menu.contains(document.activeElement)) one("summary", menu).focus();
  menu.open = false;
}
const typing = (target) => target.closest("input, textarea, select, dialog");
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") all(MENUS).forEach(shut);
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const neighbour = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  if (neighbour && !event.target.closest(".scroll")) one(`.actions a[rel="${neighbour}"]`)?.click();
  if (event.key === "/") { event.preventDefault(); one(".search input")?.focus(); }
  // A digit settles a disagreement, as it grades for an assessor.
  if (/^[0-9]$/.test(event.key) && !event.repeat) one(`[data-digits] [name=grade][value="${event.key}"]`)?.click();
});

// The browser searches only what is here, so the rest of a long board comes first.
document.addEventListener("keydown", (event) => {
  if (event.key === "f" && (event.ctrlKey || event.metaKey)) all(".rest a").forEach((link) => htmx.trigger(link, "find"));
});

// Paper has every row: printing begins as soon as this returns, so it waits for the answer.
addEventListener("beforeprint", () => all(".rest a").forEach((link) => {
  const request = new XMLHttpRequest();
  request.open("GET", link.href, false);
  request.send();
  const whole = new DOMParser().parseFromString(request.responseText, "text/html").querySelector("table.board");
  if (whole) link.closest("table").replaceWith(whole);
}));

const isFilledIn = (field) => field.value !== field.defaultValue || field.checked !== field.defaultChecked;
// A page that follows along waits while somebody fills in a field of it or has a menu open.
document.addEventListener("htmx:beforeRequest", (event) => {
  const busy = one(`main :is(input, select, textarea):focus, main :is(${MENUS})`) || all("main :is(input, textarea)").some(isFilledIn);
  if (busy && event.target.matches("[hx-target=main]:not([data-at-once])")) event.preventDefault();
});

// An answer that is another page, such as the one to sign in, has no part that belongs here.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, pathInfo } = event.detail;
  if (new URL(xhr.responseURL).pathname === new URL(pathInfo.finalRequestPath, location.href).pathname) return;
  event.detail.shouldSwap = false;
  location.reload();
});
// A choice that failed is said; a page that follows along asks again anyway.
for (const failure of ["htmx:responseError", "htmx:sendError"]) document.addEventListener(failure, ({ detail }) => {
  if (detail.elt.matches("[hx-trigger^=every]")) return;
  const words = detail.xhr.status ? `The server answered ${detail.xhr.status}.` : "The connection was lost.";
  one("#messages")?.replaceChildren(noticeOf(`${words} The page still shows what it showed before. Try again in a moment.`));
});

document.addEventListener("click", (event) => {
  const target = event.target;
  all(MENUS).forEach((menu) => { if (!menu.contains(target)) shut(menu); });
  const button = target.closest("button");
  if (button?.matches("[data-theme-switch]")) {
    const names = Object.keys(THEMES);
    wear(names[(names.indexOf(stored()) + 1) % names.length]);
  }
  if (button?.dataset.copy) copy(button);
  if (target === drawer || button?.matches(".drawer .close")) drawer.close();
  const number = target.closest("a.number, a[data-drawer]");
  if (number && !event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); explain(number); }
});

// A date of a track says itself in the reader's own zone, any other time when it is pointed at.
const here = (time, style) => new Date(time.dateTime).toLocaleString(undefined, style);
const localise = () => all("time.due:not([data-here])").forEach((time) => {
  time.dataset.here = "yes";
  time.after(` (${here(time, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" })} your time)`);
});
document.addEventListener("DOMContentLoaded", localise);
document.addEventListener("htmx:afterSettle", localise);
document.addEventListener("pointerover", (event) => {
  const time = event.target.closest?.("time[datetime]");
  if (!time || time.title) return;
  time.title = `${here(time, { dateStyle: "medium", timeStyle: "short" })} your time`;
});

// A choice applies at once; one in a menu when the menu closes.
document.addEventListener("change", ({ target }) => {
  const form = target.closest("form[data-at-once]");
  if (!form) return;
  const menu = target.closest("details.columns");
  if (menu) menu.dataset.chosen = "yes"; else form.requestSubmit();
});
document.addEventListener("toggle", ({ target }) => {
  if (!target.open && target.dataset?.chosen) target.closest("form").requestSubmit();
}, true);

// The answer to a choice replaces its form: the fold stays open, and the focus in its field.  htmx
// finds that by its id, but can focus nothing in a closed fold.
let chosen = null;
document.addEventListener("htmx:beforeSwap", () => {
  chosen = one("details.filters[open]") && document.activeElement.id;
});
document.addEventListener("htmx:afterSwap", () => {
  const fold = one("details.filters");
  if (chosen === null || !fold) return;
  fold.open = true;
  document.getElementById(chosen)?.focus({ preventScroll: true });
});

// A link to a place in a fold opens the fold; not every browser does that.
function unfold() {
  const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folds = [];
  for (let fold = place?.closest("details:not([open])"); fold; fold = fold.parentElement.closest("details:not([open])")) folds.push(fold);
  folds.forEach((fold) => { fold.open = true; });
  if (folds.length) place.scrollIntoView();
}
addEventListener("hashchange", unfold);
document.addEventListener("DOMContentLoaded", unfold);

// A distance in time goes on counting from what the server said: a clock here may be wrong.
const UNITS = { day: 86400, hour: 3600, minute: 60, second: 1 };
function fromNow(seconds) {
  let left = Math.abs(seconds);
  const parts = [];
  for (const [unit, length] of Object.entries(UNITS)) {
    const many = Math.floor(left / length);
    left %= length;
    if (many || parts.length) parts.push([many, unit]);
  }
  if (!parts.length) return "now";
  const most = seconds > 0 && seconds < UNITS.day ? 2 : 1;
  const words = parts.slice(0, most).filter(([many]) => many);
  const distance = words.map(([many, unit]) => `${count(many)} ${unit}${many === 1 ? "" : "s"}`).join(" ");
  return seconds > 0 ? `in ${distance}` : `${distance} ago`;
}
function tick() {
  all(".distance[data-in]").forEach((distance) => {
    distance.at ??= Date.now() + distance.dataset.in * 1000;
    const words = fromNow(Math.trunc((distance.at - Date.now()) / 1000));
    if (distance.textContent !== words) distance.textContent = words;
  });
}
document.addEventListener("DOMContentLoaded", tick);
setInterval(tick, 1000);

async function copy(button) {
  const words = button.textContent;
  await navigator.clipboard.writeText(all(button.dataset.copy).map((part) => part.textContent.trim()).join("\n"));
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = words; }, 2000);
}

// "How is this computed?": the page behind a number, in a drawer.
const drawer = make("dialog", { className: "drawer", ariaLabel: "How is this computed?" });
async function explain(link) {
  const answer = await fetch(link.href).catch(() => null);
  const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
  const computed = page && one(".computed", page);
  if (!computed) { location.assign(link.href); return; }
  const close = make("button", { className: "plain close", type: "button", ariaLabel: "Close", textContent: "✕" });
  drawer.replaceChildren(computed, close);
  document.body.append(drawer);
  drawer.showModal();
  history.pushState({ ...history.state, drawer: true }, "");
}
// Going back closes the drawer, and closing the drawer goes back.
drawer.addEventListener("close", () => { if (history.state?.drawer) history.back(); });
addEventListener("popstate", () => { if (drawer.open) drawer.close(); });

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function sign(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "sign");
  svg.setAttribute("aria-hidden", "true");
  svg.append(document.createElementNS(svg.namespaceURI, "use"));
  svg.firstChild.setAttribute("href", `#sign-${name}`);
  return svg;
}

const count = (number) => number.toLocaleString("en");

// The size of a file, rounded as `size` of the server does it.
function bytes(number) {
  if (number < 1000) return `${number} byte${number === 1 ? "" : "s"}`;
  let unit = "";
  for (const larger of ["kB", "MB", "GB", "TB"]) {
    if (number < 999.5) break;
    [number, unit] = [number / 1000, larger];
  }
  const digits = number < 9.95 && unit !== "kB" ? 1 : 0;
  const style = { minimumFractionDigits: digits, maximumFractionDigits: digits, roundingMode: "halfEven", useGrouping: false };
  return `${number.toLocaleString("en", style)} ${unit}`;
}

// Upload: drop zones, compression, progress.
function upload(form) {
  all(".drop", form).forEach((zone) => dropZone(form, zone));
  form.addEventListener("submit", (event) => {
    if (!form.reportValidity()) return;
    event.preventDefault();
    send(form, event.submitter);
  });
}

function dropZone(form, zone) {
  const input = one("[type=file]", zone);
  const over = (event) => { event.preventDefault(); zone.classList.toggle("over", event.type === "dragover"); };
  ["dragover", "dragleave", "drop"].forEach((name) => zone.addEventListener(name, over));
  zone.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
  input.addEventListener("change", () => {
    const files = [...input.files];
    zone.classList.toggle("chosen", files.length > 0);
    if (!files.length) return;
    const name = files.length === 1 ? files[0].name : `${count(files.length)} files`;
    const size = files.reduce((total, file) => total + file.size, 0);
    one(".file", zone).replaceChildren(make("b", { textContent: name }), make("small", { textContent: bytes(size) }));
    const key = one("[name=idempotency_key]", form);
    if (key) key.value = newKey();
  });
}

// The same key makes the same run; another file is another run.
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

const SMALL = 1048576;
async function packed(file) {
  const magic = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const isPacked = (magic[0] === 0x1f && magic[1] === 0x8b) || (magic[0] === 0x50 && magic[1] === 0x4b);
  if (file.size < SMALL || isPacked || !window.CompressionStream) return file;
  const blob = await new Response(file.stream().pipeThrough(new CompressionStream("gzip"))).blob();
  return new File([blob], `${file.name}.gz`, { type: "application/gzip" });
}

async function send(form, submitter) {
  const body = new FormData(form, submitter);
  const bar = one("progress", form);
  const words = one("[data-progress]", form);
  const say = (text) => { if (words) words.textContent = text; };
  const buttons = all("button", form);
  buttons.forEach((button) => { button.disabled = true; });
  say("Compressing …");
  for (const [name, value] of [...body]) if (value instanceof File && value.size) body.set(name, await packed(value));
  const answer = await post(form.action, body, (loaded, total) => {
    if (bar) { bar.hidden = false; bar.max = total; bar.value = loaded; }
    say(loaded < total ? `${bytes(loaded)} of ${bytes(total)} uploaded` : "Upload complete. Saving …");
  });
  buttons.forEach((button) => { button.disabled = false; });
  const next = ledTo(answer);
  if (next) { location.assign(next); return; }
  if (bar) bar.hidden = true;
  say("");
  const isForm = answer.response?.getElementById(form.id);
  if (isForm) amend(form, answer.response); else refuse(form, failureOf(answer));
  form.dispatchEvent(new Event("refused"));
}

function post(address, body, progress) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.setRequestHeader("X-Sent-By", "script");
    request.responseType = "document";
    request.upload.addEventListener("progress", ({ loaded, total }) => progress(loaded, total));
    request.addEventListener("loadend", () => resolve(request));
    request.send(body);
  });
}

// Where an accepted upload leads.  The server says so without leading there, or that page would be
// asked for twice, and what it says once would be lost.
const ledTo = (answer) => answer.getResponseHeader("Location") ?? "";

// Why an answer has no form, in the words of its page.
function failureOf({ status, response }) {
  if (!status) return "The connection was lost. Your file may have arrived. Try again; nothing is counted twice.";
  const said = response && one("main", response)?.innerText.trim().replace(/\s+/g, " ");
  return said || `The server answered ${status}. Try again in a moment.`;
}

// What is wrong with a form as a whole is said at its top.
function errorsOf(form) {
  if (!one(".form-errors", form)) form.prepend(make("div", { className: "form-errors", tabIndex: -1 }));
  return one(".form-errors", form);
}

const noticeOf = (text) => make("div", { className: "notice bad", role: "alert" }, sign("bad"), make("div", {}, make("b", { textContent: text })));

function refuse(form, text) {
  errorsOf(form).replaceChildren(noticeOf(text));
  errorsOf(form).focus();
}

// A refused form comes back as a page: take its words, keep the files that are chosen here.
function amend(form, page) {
  const fresh = page.getElementById(form.id);
  all("[data-answer]", page).forEach((part) => document.getElementById(part.id)?.replaceWith(part));
  all(".field[id]", fresh).forEach((field) => {
    const mine = one(`#${field.id}`, form);
    if (!mine) return;
    if (!one("[type=file]", mine)) { mine.replaceWith(field); return; }
    one(".error", mine)?.remove();
    mine.append(one(".error", field) ?? "");
  });
  errorsOf(form).replaceWith(errorsOf(fresh));
  (one("[aria-invalid=true]", form) ?? errorsOf(form)).focus();
}
