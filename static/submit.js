// Submitting runs: a look into each file before it is sent, and several files at once.
// The page works without this file: the server opens archives and checks everything again.
"use strict";

// A file is read up to this many lines, and a check shows as many topics.
const LINES = 400000;
const SHOWN_TOPICS = 3;
// Of a line that is named, so many characters are shown.
const SHOWN_LINE = 160;
const MOST_FILES = 100;
const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
const word = (number) => NUMBERS[number] ?? count(number);
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
const plural = (number, one_, many) => (number === 1 ? one_ : many);

document.addEventListener("DOMContentLoaded", () => {
  const form = one("#submit-form");
  if (!form) return;
  const page = {
    form, rows: [], turn: 0, rules: readRules(one("[data-check]", form).dataset),
    place: one("[data-check]", form), said: one("[data-said]", form), button: one("[data-submit]", form),
    after: one("[data-left-after]", form), label: one("[data-submit]", form).textContent, hint: one("[data-left-after]", form).textContent,
  };
  one("[type=file]", form).addEventListener("change", () => inspect(page));
  form.addEventListener("refused", () => outdate(page));
  form.addEventListener("submit", (event) => {
    if (page.rows.length < 2) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (form.reportValidity()) submitAll(page);
  }, true);
});

function readRules(data) {
  return {
    topics: data.topics ? new Set(data.topics.split(" ")) : null, tags: new Set(JSON.parse(data.tags)), depth: Number(data.depth),
    isTrec: data.formats === "trec", refusesTwice: data.duplicates === "refuse", refusesMissing: data.missing === "refuse",
    refusesTags: data.repeated === "refuse", left: data.left === "" ? Infinity : Number(data.left), limit: Number(data.limit),
  };
}

async function inspect(page) {
  const turn = ++page.turn;
  const isOld = () => turn !== page.turn;
  const began = performance.now();
  const files = [...one("[type=file]", page.form).files];
  const found = (await Promise.all(files.map(openArchive))).flat();
  if (isOld()) return;
  page.rows = found.length > 1 ? found.map((entry) => makeRow(page, entry)) : [];
  showWhole(page);
  if (found.length < 2) { if (found.length) await check(page, found[0], began, isOld); return; }
  if (found.length > MOST_FILES) { refuseMany(page, found.length); return; }
  showTable(page);
  for (const row of page.rows) {
    await examine(row, page.rules);
    if (isOld()) return;
    judgeAll(page);
  }
  page.seconds = ((performance.now() - began) / 1000).toFixed(1);
  judgeAll(page);
}

// What only one run has: its tag, whether it is the primary one.
function showWhole(page) {
  const many = page.rows.length > 1;
  all("[data-single], #field-primary", page.form).forEach((part) => { part.hidden = many; });
  one("[data-several]", page.form).hidden = !many;
  page.form.parentElement.classList.toggle("many", many);
  page.place.replaceChildren();
  page.said.replaceChildren();
  page.button.textContent = page.label;
  page.button.disabled = false;
  page.button.classList.add("main-button");
  page.after.textContent = page.hint;
}

function refuseMany(page, number) {
  page.said.replaceChildren(make("p", { className: "verdict", textContent: `These are ${count(number)} files. Choose up to ${MOST_FILES} at once.` }));
  page.button.disabled = true;
}

// An archive is opened here, so that each of its files is sent by itself.
async function openArchive(file) {
  const entry = { name: file.name, file, problem: "" };
  const magic = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (magic[0] !== 0x50 || magic[1] !== 0x4b) return [entry];
  try {
    const members = (await listMembers(file)).filter(({ name }) => !isSystemFile(name));
    if (!members.length) throw new Error("no files");
    return Promise.all(members.map((member) => openMember(file, member)));
  } catch {
    return [{ ...entry, problem: "This archive cannot be opened here. Choose its files without the archive." }];
  }
}

const isSystemFile = (name) => name.endsWith("/") || name.split("/").some((part) => part === "__MACOSX" || /^\.[^.]/.test(part));
const isOther = (name) => /^(readme|licen[cs]e|changelog|makefile)|\.(md|pdf|html|png|jpg|py|sh|ipynb|ya?ml|docx|toml|ini)$/i.test(name.split("/").pop());

// The directory of a zip archive without a comment; 64-bit archives are left to the server.
async function listMembers(zip) {
  const end = new DataView(await zip.slice(-22).arrayBuffer());
  if (end.byteLength < 22 || end.getUint32(0, true) !== 0x06054b50) throw new Error("no end record");
  const [size, start] = [end.getUint32(12, true), end.getUint32(16, true)];
  if (start === 0xffffffff || size > 1048576) throw new Error("too large a directory");
  const list = new DataView(await zip.slice(start, start + size).arrayBuffer());
  const members = [];
  for (let at = 0; at + 46 <= list.byteLength && list.getUint32(at, true) === 0x02014b50;) {
    const [named, extra, comment] = [28, 30, 32].map((place) => list.getUint16(at + place, true));
    members.push({
      name: new TextDecoder().decode(new Uint8Array(list.buffer, at + 46, named)),
      isEncrypted: Boolean(list.getUint16(at + 8, true) & 1), method: list.getUint16(at + 10, true),
      checksum: list.getUint32(at + 16, true), packed: list.getUint32(at + 20, true), unpacked: list.getUint32(at + 24, true),
      header: list.getUint32(at + 42, true),
    });
    at += 46 + named + extra + comment;
  }
  return members;
}

// A packed file becomes a gzip file by another head and foot, without being unpacked.
async function openMember(zip, { name, isEncrypted, method, checksum, packed, unpacked, header }) {
  const entry = { name, file: null, problem: "" };
  const problem = isEncrypted ? "It is encrypted. Zip it without a password."
    : isOther(name) ? "It is not a run file."
      : name.endsWith(".zip") ? "It is an archive in an archive. Zip the runs themselves."
        : method !== 0 && method !== 8 ? "It uses a compression method that is not supported." : "";
  if (problem) return { ...entry, problem };
  const head = new DataView(await zip.slice(header, header + 30).arrayBuffer());
  const start = header + 30 + head.getUint16(26, true) + head.getUint16(28, true);
  const data = zip.slice(start, start + packed);
  const last = name.split("/").pop();
  if (method === 0) return { ...entry, file: new File([data], last) };
  if (name.endsWith(".gz")) return { ...entry, file: new File([await inflate(data, unpacked)], last) };
  const foot = new DataView(new ArrayBuffer(8));
  foot.setUint32(0, checksum, true);
  foot.setUint32(4, unpacked, true);
  const gzip = [new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]), data, foot];
  return { ...entry, file: new File(gzip, `${last}.gz`, { type: "application/gzip" }) };
}

async function inflate(data, most) {
  const reader = data.stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const pieces = [];
  for (let size = 0; ;) {
    const { value, done } = await reader.read();
    if (done) return new Blob(pieces);
    size += value.length;
    if (size > most) throw new Error("longer than declared");
    pieces.push(value);
  }
}

// What can be told of a file without the collection.
async function look(file) {
  const seen = { at: 0, lines: 0, columns: [], tags: new Set(), topics: new Map(), scores: [], twice: [], shown: {}, first: [], cut: false, high: 0x811c9dc5, low: 0x1000193 };
  const magic = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  let stream = file.stream();
  if (magic[0] === 0x1f && magic[1] === 0x8b) stream = stream.pipeThrough(new DecompressionStream("gzip"));
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    const parts = (rest + (value ?? "")).split("\n");
    rest = done ? "" : parts.pop();
    for (const line of parts) { seen.at++; if (line.trim()) read(line, seen); }
    if (seen.lines >= LINES) seen.cut = true;
    if (done) return seen;
    if (seen.cut) { reader.cancel(); return seen; }
  }
}

// Keep the number of a line with a problem, and show the first line of each kind.
function note(seen, kind, line) {
  seen[kind].push(seen.at);
  seen.shown[kind] ??= line.length > SHOWN_LINE ? `${line.slice(0, SHOWN_LINE)}…` : line.trimEnd();
}

function read(line, seen) {
  seen.lines++;
  const fields = line.trim().split(/\s+/);
  if (seen.first.length < 3) seen.first.push(fields);
  if (fields.length !== 6) { note(seen, "columns", line); mix(seen, line); return; }
  const [name, , docno, rank, score, tag] = fields;
  if (seen.tags.size < 3) seen.tags.add(tag);
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(score) || !Number.isFinite(Number(score))) note(seen, "scores", line);
  const topic = seen.topics.get(name) ?? seen.topics.set(name, { documents: new Set(), disagrees: false }).get(name);
  if (topic.documents.has(docno)) note(seen, "twice", line);
  topic.documents.add(docno);
  // The score decides; a rank that says otherwise is worth a word.
  if (topic.rank !== undefined && (Number(rank) - topic.rank) * (Number(score) - topic.score) > 0) topic.disagrees = true;
  [topic.rank, topic.score] = [Number(rank), Number(score)];
  mix(seen, `${name} ${docno} ${score}`);
}

// Two numbers that are equal for files with the same lines, whatever their tags: FNV-1a, twice.
function mix(seen, text) {
  for (let at = 0; at < text.length; at++) {
    seen.high = Math.imul(seen.high ^ text.charCodeAt(at), 0x01000193);
    seen.low = Math.imul(seen.low ^ text.charCodeAt(at), 0x85ebca6b);
  }
  seen.high = Math.imul(seen.high ^ 10, 0x01000193);
}

// One file: the list of checks and its first lines.
async function check(page, { file, problem }, began, isOld) {
  const { place, rules, form } = page;
  const fine = (text) => make("p", { className: "fine", textContent: text });
  place.replaceChildren(fine("Checking the file …"));
  let seen = null;
  if (!problem) try { seen = await look(file); } catch { /* the server says what is wrong */ }
  if (isOld()) return;
  if (!seen) { place.replaceChildren(fine("Your browser cannot read this file. The server will.")); return; }
  if (seen.columns.length && !rules.isTrec) { place.replaceChildren(fine("The browser checks only six-column files. The server checks the track’s other formats.")); return; }
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const words = `Checked in your browser in ${seconds} s${seen.cut ? `, the first ${count(LINES)} lines` : ""}. Nothing is uploaded yet. The server will check it again.`;
  const list = findings(seen, rules.topics);
  place.replaceChildren(list, fine(words), firstLines(seen.first));
  page.button.classList.toggle("main-button", !one(".bad", list));
  const tag = one("[name=tag]", form);
  if (tag && !tag.value && seen.tags.size === 1) [tag.value] = seen.tags;
}

// The server refused the file: what was checked here before stays to be read, without its ticks.
function outdate({ place }) {
  const list = one(".checks", place);
  if (!list) return;
  all(".ok", list).forEach((found) => { found.className = "past"; one(".sign", found).replaceWith(sign("queued")); });
  list.nextElementSibling.textContent = "These were the checks in your browser. The server decided afterwards.";
}

function findings(seen, topics) {
  const at = (lines) => `${count(lines.length)} ${lines.length === 1 ? "line" : "lines"}, first: line ${count(lines[0])}`;
  const unknown = topics ? [...seen.topics.keys()].filter((topic) => !topics.has(topic)) : [];
  const answered = seen.topics.size - unknown.length;
  const deepest = Math.max(0, ...[...seen.topics.values()].map((topic) => topic.documents.size));
  const rows = [
    seen.columns.length || !seen.lines
      ? ["bad", "Format", seen.lines ? "not six columns" : "the file is empty", seen.lines ? at(seen.columns) : "", seen.shown.columns]
      : ["ok", "Format", "TREC run, six columns", `${count(seen.lines)} lines`],
    seen.tags.size === 1
      ? ["ok", "Run tag", `${[...seen.tags][0]} on every line`, ""]
      : ["bad", "Run tag", `not unique: ${[...seen.tags].join(", ")}`, ""],
    unknown.length
      ? ["bad", "Topics", `unknown: ${unknown.slice(0, 5).join(", ")}`, `${count(unknown.length)} unknown`]
      : [topics && answered < topics.size ? "warn" : "ok", "Topics", topics ? "all known" : "found", topics ? `${count(answered)} of ${count(topics.size)}` : count(answered)],
    seen.twice.length
      ? ["bad", "Documents", "duplicates within a topic", at(seen.twice), seen.shown.twice]
      : ["ok", "Documents", "no duplicates in a topic", `${count(deepest)} max per topic`],
    seen.scores.length
      ? ["bad", "Scores", "not a finite number", at(seen.scores), seen.shown.scores]
      : ["ok", "Scores", "all finite numbers", ""],
    ["queued", "Document ids", "checked against the collection on upload", ""],
  ];
  if (!seen.topics.size) rows.splice(1, rows.length, ["queued", "Other checks", "skipped: no line has six columns", ""]);
  return make("ul", { className: "checks" }, ...rows.map(([found, subject, words, much, line]) => make("li", { className: found },
    sign(found), make("span", {}, make("b", { textContent: subject }), ` ${words}`), make("span", { textContent: much }), ...shownLine(line))));
}

function shownLine(line) {
  return line === undefined ? [] : [make("code", { className: "wrong" }, make("bdi", { textContent: line }))];
}

function firstLines(lines) {
  const head = ["Topic", "Q0", "Document", "Rank", "Score", "Tag"];
  const cells = (tag, words) => words.slice(0, 6).map((word) => make(tag, { textContent: word, className: tag === "td" ? "mono" : "" }));
  const table = make("table", { className: "short dense" },
    make("thead", {}, make("tr", {}, ...cells("th", head))),
    make("tbody", {}, ...lines.map((fields) => make("tr", {}, ...cells("td", fields)))));
  const box = make("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "The first lines" }, table);
  return make("details", { open: true }, make("summary", { textContent: "Preview of the first lines" }), box);
}

// Several files: one row for each, a fix where there is one, and one button for all of them.
function makeRow(page, { name, file, problem }) {
  const row = { name, file, problem, key: newKey(), facts: null, uses: true, out: false, chosen: {}, sent: "", failed: "", cells: {} };
  for (const cell of ["sign", "tag", "topics", "lines", "found", "fix"]) row.cells[cell] = make("td");
  row.cells.topics.className = row.cells.lines.className = "num";
  row.cells.sign.className = "mark-of";
  row.cells.fix.className = "fix";
  row.line = make("tr", {}, row.cells.sign, make("th", { scope: "row", title: name }, make("bdi", { textContent: name.split("/").pop() })),
    row.cells.tag, row.cells.topics, row.cells.lines, row.cells.found, row.cells.fix);
  row.page = page;
  return row;
}

function showTable(page) {
  const heads = [["", "Result"], ["File"], ["Tag"], ["Topics", "", "num"], ["Lines", "", "num"], ["What we found"], ["Fix", "", "fix"]];
  const head = make("tr", {}, ...heads.map(([text, hidden, className]) => make("th", { scope: "col", className: className ?? "" }, hidden ? make("span", { className: "aside", textContent: hidden }) : text)));
  const table = make("table", { className: "uploads" }, make("thead", {}, head), make("tbody", {}, ...page.rows.map((row) => row.line)));
  const box = make("div", { className: "scroll fits", tabIndex: 0, role: "region", ariaLabel: "Files to submit" }, table);
  page.sentence = make("p", { className: "verdict" });
  page.fine = make("p", { className: "fine" });
  page.said.replaceChildren(page.sentence, page.fine);
  page.place.replaceChildren(box, ...choosePrimary(page));
  page.seconds = "";
  judgeAll(page);
}

// Of several runs one may be the primary one, where the board shows that of each team.
function choosePrimary(page) {
  page.primary = null;
  if (!one("#field-primary", page.form) || one("details #field-primary", page.form)) return [];
  page.primary = make("select", { id: "primary-run" });
  page.primary.addEventListener("change", () => { page.primaryRow = page.rows[Number(page.primary.value)] ?? null; });
  page.primaryRow = null;
  const label = make("label", { htmlFor: "primary-run", textContent: "Primary run" });
  return [make("div", { className: "field primary" }, label, page.primary, make("div", { className: "hint", textContent: "One per team. It replaces an earlier primary run once it has passed its checks." }))];
}

async function examine(row, rules) {
  if (row.problem) return;
  if (row.file.size > rules.limit) { row.problem = `It has ${bytes(row.file.size)}; the limit is ${bytes(rules.limit)}.`; return; }
  let seen = null;
  try { seen = await look(row.file); } catch { row.problem = "It cannot be read: the file is damaged or of a different type."; return; }
  row.facts = summarise(seen, rules);
}

// What the table says of a file; its lines are forgotten.
function summarise(seen, rules) {
  const names = [...seen.topics.keys()];
  const unknown = rules.topics ? names.filter((name) => !rules.topics.has(name)) : [];
  const missing = rules.topics && !seen.cut ? [...rules.topics].filter((name) => !seen.topics.has(name)) : [];
  const depths = names.map((name) => seen.topics.get(name).documents.size);
  const deepest = depths.reduce((most, depth) => Math.max(most, depth), 0);
  return {
    lines: seen.lines, cut: seen.cut, columns: seen.columns, scores: seen.scores, twice: seen.twice, shown: seen.shown, tags: [...seen.tags],
    unknown, missing, deepest, deepestTopic: names[depths.indexOf(deepest)], shallow: depths.filter((depth) => depth < deepest).length,
    answered: names.length - unknown.length, disagreeing: names.filter((name) => seen.topics.get(name).disagrees).length,
    same: `${seen.high} ${seen.low} ${seen.lines}`,
  };
}

const listed = (names) => names.slice(0, SHOWN_TOPICS).join(", ") + (names.length > SHOWN_TOPICS ? " and more" : "");

// Why a file cannot be sent, with the line that this names; or nothing.
function refusal({ problem, facts }, rules) {
  if (problem || !facts) return [problem];
  if (!facts.lines) return ["The file is empty."];
  if (facts.columns.length) return rules.isTrec ? [`Line ${count(facts.columns[0])} does not have six columns.`, facts.shown.columns] : [];
  if (facts.unknown.length) return [facts.answered ? `${capital(plural(facts.unknown.length, "topic", "topics"))} ${listed(facts.unknown)} ${plural(facts.unknown.length, "is", "are")} not in this track.` : `None of its topics is in this track: ${listed(facts.unknown)}.`];
  if (facts.scores.length) return [`Line ${count(facts.scores[0])}: the score is not a finite number.`, facts.shown.scores];
  if (facts.twice.length && rules.refusesTwice) return [`Line ${count(facts.twice[0])} repeats a document of its topic.`, facts.shown.twice];
  if (facts.deepest > rules.depth) return [`Topic ${facts.deepestTopic} has ${count(facts.deepest)} documents; the limit is ${count(rules.depth)}.`];
  if (facts.missing.length && rules.refusesMissing) return [`${capital(plural(facts.missing.length, "topic", "topics"))} ${listed(facts.missing)} ${plural(facts.missing.length, "has", "have")} no results.`];
  return [];
}

// What is worth a word, though the file can be sent.
function remarks({ facts }, rules) {
  const said = [];
  if (facts.columns.length) return said;
  if (facts.missing.length) said.push(facts.missing.length === 1 ? `Topic ${facts.missing[0]} has no results and scores 0.` : `${count(facts.missing.length)} topics have no results and score 0: ${listed(facts.missing)}.`);
  if (facts.disagreeing) said.push(`Scores and ranks disagree in ${counted(facts.disagreeing, "topic")}; the score decides.`);
  if (facts.twice.length && !rules.refusesTwice) said.push(`${counted(facts.twice.length, "line")} repeat${plural(facts.twice.length, "s", "")} a document; the best score counts.`);
  return said;
}

function ready({ facts }, rules) {
  if (facts.columns.length) return "The server checks this format.";
  if (facts.cut) return `Ready; the first ${count(LINES)} lines were checked.`;
  if (facts.shallow) return `Ready; ${counted(facts.shallow, "topic")} ${plural(facts.shallow, "has", "have")} fewer than ${count(facts.deepest)} documents.`;
  return facts.deepest < rules.depth ? `Ready; ${counted(facts.deepest, "document")} per topic.` : "Ready";
}

// A tag from the name of a file that neither the team nor another file uses.
function proposeTag(row, used) {
  const base = row.name.split("/").pop().replace(/\.(gz|zip)$/i, "").replace(/\.(run|txt|trec|res|tsv|out)$/i, "").replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 60) || "run";
  let tag = base;
  for (let number = 2; used.has(tag); number++) tag = `${base}-${number}`;
  used.add(tag);
  return tag;
}

// Judge every file anew, since what is wrong with one can depend on the others.
function judgeAll(page) {
  const { rows, rules } = page;
  const examined = rows.filter((row) => row.facts);
  const used = new Set([...rules.tags, ...examined.flatMap((row) => [...row.facts.tags, row.proposed ?? ""])]);
  rows.forEach((row) => { row.level = "queued"; row.said = ["Checking …"]; row.offer = null; });
  for (const row of examined) judgeLines(row, examined, rules);
  for (const row of examined) if (!row.offer && !row.facts.columns.length) judgeTag(row, examined, rules, used);
  for (const row of examined) if (!row.said.length) row.said = [ready(row, rules)];
  for (const row of rows) {
    const [why, line] = refusal(row, rules);
    row.shown = line;
    if (why) { row.level = "bad"; row.said = [why]; row.offer = null; }
  }
  const sendable = rows.filter((row) => row.level !== "bad" && row.facts && !row.sent && (!isOut(row)));
  const short = sendable.length > rules.left - sentNow(rows);
  if (short) keepQuota(sendable, rules.left - sentNow(rows), rows);
  page.chosen = sendable.filter((row) => row.level !== "bad");
  rows.forEach(paint);
  summarisePage(page);
}

const sentNow = (rows) => rows.filter((row) => row.sent).length;
// A ticked box is what was chosen, or what is proposed where nothing was.
const isOut = (row) => row.offer?.kind === "leave" && (row.chosen.leave ?? row.offer.ticked);
const usesTag = (row) => row.offer?.kind === "tag" && (row.chosen.tag ?? true);

function judgeLines(row, examined, rules) {
  const { facts } = row;
  row.said = remarks(row, rules);
  row.level = row.said.length ? "warn" : "ok";
  const twin = examined.find((other) => other.facts.same === facts.same && facts.lines);
  if (twin !== row && twin) {
    const alike = twin.facts.tags.join() === facts.tags.join();
    row.said.unshift(alike ? `The same file as ${twin.name}.` : `Same lines as ${twin.name}; only the tag differs.`);
    row.level = "warn";
    row.offer = { kind: "leave", label: "Leave it out", ticked: alike };
  }
}

function judgeTag(row, examined, rules, used) {
  const { tags } = row.facts;
  const [tag] = tags;
  const sharing = examined.filter((other) => other.facts.tags.includes(tag) && !isOut(other)).length;
  const problem = tags.length !== 1 ? "The tag is not the same on every line."
    : sharing > 1 ? `Tag ${tag} is used by ${word(sharing)} of these files.`
      : rules.tags.has(tag) ? `Your team has a run ${tag} already.` : "";
  if (!problem) return;
  row.proposed ??= proposeTag(row, used);
  row.offer = { kind: "tag", label: `Use ${row.proposed} as tag` };
  row.said.unshift(problem);
  row.level = "warn";
  if ((tags.length !== 1 || rules.refusesTags) && !usesTag(row)) row.level = "bad";
}

// Where the quota is short, the first files are kept, and each can be left out for another one.
function keepQuota(sendable, left, rows) {
  for (const row of rows) {
    if (row.facts && !row.sent && row.level !== "bad" && !row.offer) row.offer = { kind: "leave", label: "Leave it out", ticked: false };
  }
  sendable.filter((row) => !isOut(row)).slice(Math.max(0, left)).forEach((row) => {
    row.level = "bad";
    row.said = [left > 0 ? `Your team has ${counted(left, "run")} left. Exclude another file to submit this one.` : "Your team has no runs left."];
  });
}

function paint(row) {
  const { cells, facts, page } = row;
  const state = row.sent ? "ok" : row.failed ? "bad" : isOut(row) ? "withdrawn" : row.level;
  row.line.className = state;
  cells.sign.replaceChildren(sign({ ok: "ok", warn: "warn", bad: "bad", withdrawn: "withdrawn", queued: "queued" }[state]),
    make("span", { className: "aside", textContent: { ok: "Ready", warn: "Warning", bad: "Not accepted", withdrawn: "Excluded", queued: "Checking" }[state] }));
  cells.tag.replaceChildren(...tagOf(row));
  cells.topics.replaceChildren(...topicsOf(facts, page.rules));
  cells.lines.textContent = facts ? `${count(facts.lines)}${facts.cut ? "+" : ""}` : "–";
  cells.found.replaceChildren(...foundOf(row));
  paintFix(row);
}

function tagOf(row) {
  const tags = row.facts?.tags ?? [];
  const code = (text, tag = "span") => make(tag, { className: "mono", textContent: text });
  if (!usesTag(row)) return [code(tags.length === 1 ? tags[0] : tags.length ? "several" : "–")];
  return [code(tags.length === 1 ? tags[0] : "several", "s"), " ", code(row.proposed)];
}

function topicsOf(facts, rules) {
  if (!facts || facts.columns.length) return ["–"];
  if (!rules.topics) return [count(facts.answered)];
  return [make("b", { textContent: count(facts.answered) }), ` of ${count(rules.topics.size)}`];
}

function foundOf(row) {
  if (row.sent) return [make("a", { href: row.sent, textContent: "Submitted" }), ". The server checks it now."];
  if (row.progress) return [row.progress];
  if (row.failed) return [make("b", { textContent: "Not submitted." }), ` ${row.failed}`];
  if (isOut(row)) return [`Excluded. ${row.said.join(" ")}`];
  const words = row.said.join(" ");
  return row.level === "bad" ? [make("b", { textContent: "Cannot be submitted." }), ` ${words}`, ...shownLine(row.shown)] : [words];
}

// The box stays the same element while its offer does, so that it keeps the focus.
function paintFix(row) {
  const { offer, cells, page } = row;
  const label = row.sent ? "" : offer?.label ?? "";
  if (cells.fix.dataset.label !== label) {
    cells.fix.dataset.label = label;
    cells.fix.replaceChildren();
    if (!label) return;
    const box = make("input", { type: "checkbox" });
    box.addEventListener("change", () => { row.chosen[row.offer.kind] = box.checked; row.failed = ""; judgeAll(page); });
    box.ariaLabel = `${label}: ${row.name}`;
    cells.fix.append(make("label", { className: "check" }, box, ` ${label}`));
  }
  const box = one("input", cells.fix);
  if (box) { box.checked = offer.kind === "tag" ? usesTag(row) : isOut(row); box.disabled = Boolean(page.isSending); }
}

function summarisePage(page) {
  const { rows, rules, chosen } = page;
  const checked = rows.every((row) => row.facts || row.problem);
  const sent = sentNow(rows);
  page.sentence.replaceChildren(make("b", { textContent: headline(page, checked, sent) }), ...[explainRest(page)].filter(Boolean).map((text) => ` ${text}`));
  const spent = page.seconds ? `Checked in your browser in ${page.seconds} s. ` : "";
  page.fine.textContent = sent ? `${spent}The server checks every line of each run.` : `${spent}Nothing is uploaded yet. The server will check everything again.`;
  page.button.textContent = chosen.length ? `Submit ${counted(chosen.length, "run")}` : "Submit runs";
  page.button.disabled = page.isSending || !checked || !chosen.length;
  page.button.classList.toggle("main-button", chosen.length > 0);
  const left = rules.left - sent - chosen.length;
  const after = Number.isFinite(left) ? `${plural(left, "1 run is", `${left > 0 ? count(left) : "No"} runs are`)} left after this. ` : "";
  page.after.textContent = after + page.hint.replace("replace it", "replace each one");
  if (page.primary) offerPrimary(page);
}

function headline({ rows, chosen }, checked, sent) {
  if (!checked) return `Checking ${counted(rows.length, "file")} …`;
  const say = rows.length < NUMBERS.length ? word : count;
  if (sent) return `${capital(say(sent))} of ${say(rows.length)} files ${plural(sent, "was", "were")} submitted.`;
  return chosen.length === rows.length ? `All ${say(rows.length)} files can be submitted.` : `${capital(say(chosen.length))} of ${say(rows.length)} files can be submitted.`;
}

function explainRest({ rows }) {
  const renamed = rows.filter((row) => !row.sent && usesTag(row)).length;
  const out = rows.filter((row) => !row.sent && isOut(row)).length;
  const bad = rows.filter((row) => !row.sent && row.level === "bad").length;
  const parts = [
    renamed && `${word(renamed)} ${plural(renamed, "takes its file name as tag", "take their file names as tags")}`,
    out && `${word(out)} ${plural(out, "is", "are")} excluded`, bad && `${word(bad)} cannot be submitted`,
  ].filter(Boolean);
  return parts.length ? `${capital(parts.join("; "))}.` : "";
}

function offerPrimary(page) {
  const options = page.rows.flatMap((row, place) => (page.chosen.includes(row) ? [make("option", { value: place, textContent: usesTag(row) ? row.proposed : row.facts.tags[0] ?? row.name, selected: row === page.primaryRow })] : []));
  page.primary.replaceChildren(make("option", { value: "", textContent: "none of these" }), ...options);
  if (!page.chosen.includes(page.primaryRow)) page.primaryRow = null;
}

// One after the other, each as a run of its own: one that is refused holds up no other.
async function submitAll(page) {
  if (page.isSending || !page.chosen.length) return;
  page.isSending = true;
  const rows = page.chosen;
  const chooser = one("[type=file]", page.form);
  chooser.disabled = true;
  for (const row of rows) {
    row.failed = "";
    judgeAll(page);
    page.said.scrollIntoView({ block: "nearest" });
    if (!await submitRow(page, row)) break;
  }
  page.isSending = false;
  chooser.disabled = false;
  rows.forEach((row) => { row.progress = ""; });
  judgeAll(page);
  if (rows.every((row) => row.sent)) location.assign(page.form.dataset.runs);
}

// Send one run; return whether the next one can be tried.
async function submitRow(page, row) {
  const chooser = one("[type=file]", page.form);
  chooser.disabled = true;
  const body = new FormData(page.form);
  row.progress = "Compressing …";
  paint(row);
  body.set("file", await packed(row.file));
  body.set("idempotency_key", row.key);
  body.set("tag", usesTag(row) ? row.proposed : "");
  body.delete("replaces_tag");
  if (usesTag(row)) body.set("replaces_tag", "on");
  body.delete("primary");
  if (page.primaryRow === row) body.set("primary", "on");
  const answer = await post(page.form.action, body, (loaded, total) => { row.progress = loaded < total ? `Uploading, ${Math.floor(100 * loaded / total)} %` : "Uploaded. Saving …"; paint(row); });
  row.progress = "";
  // Led to the page of a run, so it was accepted.
  const next = ledTo(answer);
  row.sent = /^\/runs\/[^/]+\/$/.test(next) ? next : "";
  row.failed = row.sent ? "" : readFailure(answer);
  judgeAll(page);
  return Boolean(answer.status);
}

function readFailure(answer) {
  if (ledTo(answer)) return "Your session has ended. Sign in again in another tab, then submit again.";
  const form = answer.response && one("#submit-form", answer.response);
  const said = form ? all(".form-errors b, .error", form).map((part) => part.textContent.trim()) : [];
  return said.length ? said.join(" ") : failureOf(answer);
}
