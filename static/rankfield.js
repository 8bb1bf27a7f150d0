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
  // On a phone the tabs scroll; the current one shows.
  one(".tabs [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
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

// Keys: / goes to the search, arrows to the neighbour of a topic, Escape closes a menu.
const MENUS = "details.menu[open], details.columns[open]";
const typing = (target) => target.closest("input, textarea, select, dialog");
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") all(MENUS).forEach((menu) => { menu.open = false; });
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const neighbour = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  if (neighbour && !event.target.closest(".scroll")) one(`.actions a[rel="${neighbour}"]`)?.click();
  if (event.key === "/") { event.preventDefault(); one(".search input")?.focus(); }
});

// A page that follows along waits while somebody fills in a field of it or has a menu open.
document.addEventListener("htmx:beforeRequest", (event) => {
  const busy = one(`main :is(input, select, textarea):focus, main :is(${MENUS})`);
  if (busy && event.target.matches("[hx-target=main]")) event.preventDefault();
});

document.addEventListener("click", (event) => {
  const target = event.target;
  all(MENUS).forEach((menu) => { if (!menu.contains(target)) menu.open = false; });
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
}

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

// Upload: drop zones, a look into the file, compression, progress.
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
    const [file] = input.files;
    zone.classList.toggle("chosen", Boolean(file));
    if (!file) return;
    one(".file", zone).replaceChildren(make("b", { textContent: file.name }), make("small", { textContent: bytes(file.size) }));
    // The same key makes the same run; another file is another run.
    const key = one("[name=idempotency_key]", form);
    if (key) key.value = [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
    const place = one("[data-check]", form);
    if (place) check(file, place, form);
  });
}

// The look into a run: what can be told without the collection, as far as LINES go.
const LINES = 400000;
async function check(file, place, form) {
  place.replaceChildren(make("p", { className: "fine", textContent: "Checking the file …" }));
  const began = performance.now();
  const topics = place.dataset.topics ? new Set(place.dataset.topics.split(" ")) : null;
  let seen;
  try { seen = await look(file); } catch { seen = null; }
  if (one("[type=file]", form).files[0] !== file) return;
  if (!seen) { place.replaceChildren(make("p", { className: "fine", textContent: "Your browser cannot read this file. The server will." })); return; }
  if (seen.columns.length && place.dataset.formats !== "trec") { place.replaceChildren(make("p", { className: "fine", textContent: "The browser checks only six-column files. The server checks the track’s other formats." })); return; }
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const words = `Checked in your browser in ${seconds} s${seen.cut ? `, the first ${count(LINES)} lines` : ""}. Nothing is uploaded yet. The server will check it again.`;
  place.replaceChildren(findings(seen, topics), make("p", { className: "fine", textContent: words }), firstLines(seen.first));
  const tag = one("[name=tag]", form);
  if (tag && !tag.value && seen.tags.size === 1) [tag.value] = seen.tags;
}

async function look(file) {
  const seen = { lines: 0, columns: [], tags: new Set(), topics: new Map(), scores: [], twice: [], first: [], cut: false };
  const magic = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (magic[0] === 0x50 && magic[1] === 0x4b) throw new Error("zip files are checked on the server");
  let stream = file.stream();
  if (magic[0] === 0x1f && magic[1] === 0x8b) stream = stream.pipeThrough(new DecompressionStream("gzip"));
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    const parts = (rest + (value ?? "")).split("\n");
    rest = done ? "" : parts.pop();
    for (const line of parts) if (line.trim()) read(line, seen);
    if (seen.lines >= LINES) seen.cut = true;
    if (done) return seen;
    if (seen.cut) { reader.cancel(); return seen; }
  }
}

function read(line, seen) {
  const number = ++seen.lines;
  const fields = line.trim().split(/\s+/);
  if (seen.first.length < 3) seen.first.push(fields);
  if (fields.length !== 6) { seen.columns.push(number); return; }
  const [topic, , document_, , score, tag] = fields;
  if (seen.tags.size < 3) seen.tags.add(tag);
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(score) || !Number.isFinite(Number(score))) seen.scores.push(number);
  const documents = seen.topics.get(topic) ?? seen.topics.set(topic, new Set()).get(topic);
  if (documents.has(document_)) seen.twice.push(number);
  documents.add(document_);
}

function findings(seen, topics) {
  const at = (lines) => `${count(lines.length)} ${lines.length === 1 ? "line" : "lines"}, first: line ${count(lines[0])}`;
  const unknown = topics ? [...seen.topics.keys()].filter((topic) => !topics.has(topic)) : [];
  const answered = seen.topics.size - unknown.length;
  const deepest = Math.max(0, ...[...seen.topics.values()].map((documents) => documents.size));
  const rows = [
    seen.columns.length || !seen.lines
      ? ["bad", "Format", seen.lines ? "not six columns" : "the file is empty", seen.lines ? at(seen.columns) : ""]
      : ["ok", "Format", "TREC run, six columns", `${count(seen.lines)} lines`],
    seen.tags.size === 1
      ? ["ok", "Run tag", `${[...seen.tags][0]} on every line`, ""]
      : ["bad", "Run tag", `not unique: ${[...seen.tags].join(", ")}`, ""],
    unknown.length
      ? ["bad", "Topics", `unknown: ${unknown.slice(0, 5).join(", ")}`, `${count(unknown.length)} unknown`]
      : [topics && answered < topics.size ? "warn" : "ok", "Topics", topics ? "all known" : "found", topics ? `${count(answered)} of ${count(topics.size)}` : count(answered)],
    seen.twice.length
      ? ["bad", "Documents", "duplicates within a topic", at(seen.twice)]
      : ["ok", "Documents", "no duplicates in a topic", `${count(deepest)} max per topic`],
    seen.scores.length
      ? ["bad", "Scores", "not a finite number", at(seen.scores)]
      : ["ok", "Scores", "all finite numbers", ""],
    ["queued", "Document ids", "checked against the collection on upload", ""],
  ];
  if (!seen.topics.size) rows.splice(1, rows.length, ["queued", "Other checks", "skipped: no line has six columns", ""]);
  return make("ul", { className: "checks" }, ...rows.map(([found, subject, words, much]) => make("li", { className: found },
    sign(found), make("span", {}, make("b", { textContent: subject }), ` ${words}`), make("span", { textContent: much }))));
}

function firstLines(lines) {
  const head = ["Topic", "", "Document", "Rank", "Score", "Tag"];
  const cells = (tag, words) => words.slice(0, 6).map((word) => make(tag, { textContent: word, className: tag === "td" ? "mono" : "" }));
  const table = make("table", { className: "short dense" },
    make("thead", {}, make("tr", {}, ...cells("th", head))),
    make("tbody", {}, ...lines.map((fields) => make("tr", {}, ...cells("td", fields)))));
  const box = make("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "The first lines" }, table);
  return make("details", { open: true }, make("summary", { textContent: "Preview of the first lines" }), box);
}

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
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.responseType = "document";
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    if (bar) { bar.hidden = false; bar.max = total; bar.value = loaded; }
    say(loaded < total ? `${bytes(loaded)} of ${bytes(total)} sent` : "Upload complete. Saving …");
  });
  request.addEventListener("loadend", () => {
    buttons.forEach((button) => { button.disabled = false; });
    // Led on, so it was taken, whatever becomes of the next page.
    if (request.status && request.responseURL !== form.action) { location.assign(request.responseURL); return; }
    if (bar) bar.hidden = true;
    if (request.response && one(`#${form.id}`, request.response)) { say(""); amend(form, request.response); return; }
    say(request.status ? `Server error ${request.status}. Try again in a moment.` : "Connection lost. Your file may have arrived. Try again; nothing is counted twice.");
  });
  request.send(body);
}

// A refused form comes back as a page: take its words, keep the files that are chosen here.
function amend(form, page) {
  all(".field[id], .form-errors", page).forEach((fresh) => {
    const mine = one(`#${fresh.id}`, form);
    if (!mine) return;
    if (!one("[type=file]", mine)) { mine.replaceWith(fresh); return; }
    one(".error", mine)?.remove();
    mine.append(one(".error", fresh) ?? "");
  });
  one("[aria-invalid=true], .form-errors a", form)?.focus();
}
