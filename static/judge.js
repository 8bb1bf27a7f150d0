// Judging by keys: a digit grades, saves and shows the next document.  The page works without this.
"use strict";

(() => {
  const main = document.querySelector("main.judge");
  if (!main) return;
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const { assignment, tab } = main.dataset;
  const grades = one("[data-grades]");
  const article = one("[data-text]");
  // What is asked of a text that is no document: a nugget, or a sentence.
  const asked = one("[data-asked]");
  const why = one("#rationale");
  const status = one("[data-status]");
  const unsentBox = one("[data-unsent]");
  const token = one("[name=csrfmiddlewaretoken]", grades).value;

  // A key that is pressed twice must not grade a document that nobody has seen.
  const ARMS_AFTER = 200;
  const RETRY = [1000, 2000, 5000, 10000];

  // The documents that wait in this tab, those it has judged, and the one on the screen.
  let queue = [];
  let seen = [];
  let back = 0;
  let current = {
    document: Number(main.dataset.document),
    html: article.innerHTML,
    asked: asked.innerHTML,
    hits: one("[data-hits]").textContent,
    mark: main.dataset.key ? { key: main.dataset.key, kind: main.dataset.kind } : null,
  };
  let spans = [];
  let painted = performance.now();
  let active = 0;
  let since = document.hidden ? null : performance.now();
  const began = Date.now();
  let ended = false;

  // Marks that the server has not confirmed; they outlive the page.
  const PREFIX = `judge ${assignment} `;
  const stored = {
    read: (name) => { try { return JSON.parse(localStorage.getItem(name)) || []; } catch { return []; } },
    write: (name, marks) => {
      try {
        if (marks.length) localStorage.setItem(name, JSON.stringify(marks)); else localStorage.removeItem(name);
      } catch { /* a private window keeps nothing: the marks are in memory */ }
    },
    names: () => { try { return Object.keys(localStorage).filter((name) => name.startsWith(PREFIX)); } catch { return []; } },
  };
  let unsent = stored.names().flatMap(stored.read);
  stored.names().forEach((name) => stored.write(name, []));
  keep();

  function keep() { stored.write(PREFIX + tab, unsent); }

  function newKey() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  // Time counts while the page is seen; a long silence was a pause.
  const LONGEST_LOOK = 600_000;
  function stopClock() { if (since !== null) active += Math.min(performance.now() - since, LONGEST_LOOK); since = null; }
  function startClock() { if (since === null && !document.hidden) since = performance.now(); }
  document.addEventListener("visibilitychange", () => { if (document.hidden) stopClock(); else startClock(); });

  // Sending: one request at a time; what fails is sent again.
  let sending = false;
  let failures = 0;
  const WAITS = "They wait in this browser and are sent once the site answers.";
  const SIGNED_OUT = "You are signed out. Sign in in another tab, then reload this page.";
  let reason = WAITS;
  // Why a mark was refused stays on the page, since the next key says something else.
  let refusal = "";
  async function send() {
    if (sending) return;
    sending = true;
    const batch = unsent.slice(0, 100);
    try {
      const answer = await fetch(main.dataset.marks, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": token },
        body: JSON.stringify({ tab, marks: batch, have: held() }),
        redirect: "manual",
      });
      reason = answer.type === "opaqueredirect" || answer.status === 403 ? SIGNED_OUT : WAITS;
      if (!answer.ok) throw new Error(String(answer.status));
      take(await answer.json());
      failures = 0;
    } catch {
      failures += 1;
      setTimeout(send, RETRY[Math.min(failures, RETRY.length) - 1]);
    }
    sending = false;
    report();
    if (!failures && (unsent.length || (queue.length < 1 && !ended))) send();
    else if (!failures) leaveIfDone();
  }

  const held = () => [...queue, ...(back ? seen : []), current, ...unsent].filter(Boolean).map((one) => one.document);

  function take(answer) {
    // A paused judging takes the marks later.
    const closed = answer.results.find((result) => result.code === "E_CLOSED");
    const done = new Set(answer.results.filter((result) => result.code !== "E_CLOSED").map((result) => result.key));
    unsent = unsent.filter((mark) => !done.has(mark.key));
    keep();
    const refused = answer.results.find((result) => result.code);
    if (refused) refusal = refused.message;
    if (closed) { reason = closed.message; throw new Error(reason); }
    const known = new Set(held());
    const fresh = answer.next.filter((one) => !known.has(one.document));
    queue.push(...fresh);
    ended = answer.is_all && fresh.length === 0;
    one("[data-done]").textContent = answer.progress.done;
    one("[data-all]").textContent = answer.progress.all;
    const bar = one(".judge-bar progress");
    bar.max = answer.progress.all; bar.value = answer.progress.done;
    one(".later-count").textContent = answer.progress.later ? `${answer.progress.later} kept for later` : "";
    const pace = one("[data-pace]");
    pace.innerHTML = "<b></b>";
    pace.firstChild.textContent = `${answer.pace.minutes} min`;
    pace.append(answer.pace.seconds === null ? " today" : ` today, ${answer.pace.seconds} s per ${main.dataset.noun}`);
    if (current === null) next();
  }

  function report() {
    const waiting = unsent.length && failures;
    const words = [refusal, waiting ? `${unsent.length} unsent. ${reason}` : ""].filter(Boolean).join(" ");
    unsentBox.hidden = !words;
    if (unsentBox.textContent !== words) unsentBox.textContent = words;
  }
  addEventListener("beforeunload", (event) => { if (unsent.length && failures) event.preventDefault(); });
  addEventListener("online", send);

  function say(text) { status.textContent = text; }

  function leaveIfDone() { if (current === null && !queue.length && ended && !unsent.length) location.assign(main.dataset.end); }

  // Showing a document.
  function show(document_) {
    current = document_;
    back = document_ && seen.includes(document_) ? back : 0;
    spans = current?.mark?.spans?.map((span) => [...span]) ?? [];
    why.value = current?.mark?.rationale ?? "";
    one("[data-why]").open = why.value !== "";
    article.innerHTML = current ? current.html : "";
    asked.innerHTML = current ? current.asked : "";
    paintAsked();
    one("[data-hits]").textContent = current ? current.hits : "";
    one("[data-standing]")?.remove();
    all("[data-cannot]").forEach((box) => { box.open = false; });
    const given = current?.mark?.kind === "grade" ? String(current.mark.grade) : null;
    all("[name=grade]", grades).forEach((button) => button.classList.toggle("given", button.value === given));
    paintSpans(); paintWords();
    article.scrollTop = 0;
    if (!back) one("#densest", article)?.scrollIntoView({ block: "start" });
    active = 0; since = document.hidden ? null : performance.now();
    painted = performance.now();
    requestAnimationFrame(() => { painted = performance.now(); });
    if (!current) say("Saving the last marks of this topic.");
  }

  const buttonOf = (grade) => one(`[name=grade][value="${grade}"]`, grades);

  // The nuggets of an answer show what this tab has given since they were sent.
  function paintAsked() {
    all("[data-of]", asked).forEach((line) => {
      const done = seen.find((other) => other.document === Number(line.dataset.of));
      if (done?.mark?.kind === "grade") one(".given-sign", line).replaceChildren(one(".grade", buttonOf(done.mark.grade)).cloneNode(true));
    });
    one("[aria-current]", asked)?.scrollIntoView({ block: "nearest" });
  }

  // Another nugget of the same answer: it waits in this tab, was judged here, or is fetched.
  function choose(step) {
    const lines = all("[data-of]", asked);
    const to = lines[lines.findIndex((line) => line.ariaCurrent) + step];
    if (!to) return;
    const wanted = (other) => other.document === Number(to.dataset.of);
    const waits = queue.find(wanted), judged = seen.findIndex(wanted);
    if (waits) {
      queue = [...(back ? [] : [current]), ...queue.filter((other) => other !== waits)];
      show(waits);
    } else if (judged >= 0) {
      if (!back) ahead = current;
      back = seen.length - judged;
      show(seen[judged]);
    } else one("a", to)?.click();
  }

  function next() {
    back = 0;
    show(queue.shift() ?? null);
    if (!current) leaveIfDone();
  }

  function mark(fields, by) {
    if (!current || performance.now() - painted < ARMS_AFTER) return;
    stopClock();
    const standing = current.mark && current.mark.kind !== "later" && current.mark.kind !== "undo" ? current.mark : null;
    const made = {
      key: newKey(), document: current.document, kind: "grade", by,
      seconds: Math.round(active / 100) / 10, rationale: why.value.trim(), spans,
      replaces: standing ? standing.key : "", ...fields,
    };
    unsent.push(made); keep();
    current.mark = made;
    if (!seen.includes(current)) seen.push(current);
    const { key, name } = made.kind === "grade" ? buttonOf(made.grade).dataset : {};
    say(made.kind === "grade" ? (key === String(made.grade) ? `Grade ${made.grade}.` : `${name}.`) : made.kind === "later" ? "Kept for later." : "Cannot judge.");
    if (made.kind === "later") seen = seen.filter((one) => one !== current);
    showLast();
    document.activeElement?.blur?.();
    if (back) forward(); else next();
    if ((Date.now() - began) / 60000 > Number(main.dataset.pauseAfter)) say(`You have judged for ${main.dataset.pauseAfter} minutes. A pause helps; your place is kept.`);
    send();
  }

  function undo() {
    const last = seen.pop();
    if (!last) { one("[data-undo] button")?.click(); return; }
    const taken = last.mark;
    unsent.push({ key: newKey(), document: last.document, kind: "undo", replaces: taken.key, by: "key" }); keep();
    if (current) queue.unshift(current);
    last.mark = null;
    show(last);
    say("Undone.");
    showLast();
    send();
  }

  // Looking back goes through what this tab has judged; an answer there replaces the earlier one.
  let ahead = null;
  function lookBack() {
    if (back >= seen.length) return;
    if (!back) ahead = current;
    back += 1;
    show(seen[seen.length - back]);
    say("Looking back. Another answer replaces this one; → goes forward.");
  }
  function forward() {
    if (!back) return;
    back -= 1;
    if (back) { show(seen[seen.length - back]); return; }
    const waiting = ahead; ahead = null;
    if (waiting) show(waiting); else next();
    say("");
  }

  function showLast() {
    const box = one("[data-last]");
    const made = seen.slice(-5).reverse().map((done) => {
      if (done.mark.kind === "grade") {
        return one(".grade", buttonOf(done.mark.grade)).cloneNode(true);
      }
      const sign = document.createElement("span");
      sign.className = "grade unjudged"; sign.textContent = "X";
      return sign;
    });
    const earlier = all("a", box).slice(0, Math.max(0, 5 - made.length));
    box.replaceChildren(...made, ...earlier);
    all("[data-undo]").forEach((form) => { form.hidden = false; });
  }

  // Words of one's own, and passages.
  const words = one("#words");
  const WORDS = `judge words ${assignment}`;
  try { words.value = sessionStorage.getItem(WORDS) || ""; } catch { /* not kept */ }
  function textNodes() {
    const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) if (walker.currentNode.parentElement.closest("h2, p[data-start]")) found.push(walker.currentNode);
    return found;
  }
  function unwrap(selector) {
    all(selector, article).forEach((sign) => { const parent = sign.parentNode; sign.replaceWith(...sign.childNodes); parent.normalize(); });
  }
  function paintWords() {
    unwrap("mark.own");
    const wanted = words.value.trim().toLowerCase().split(/[\s,]+/).filter((word) => word.length > 1);
    let hits = 0;
    if (wanted.length) {
      const pattern = new RegExp(wanted.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "giu");
      textNodes().forEach((node) => {
        for (const hit of [...node.data.matchAll(pattern)].reverse()) {
          const range = document.createRange();
          range.setStart(node, hit.index); range.setEnd(node, hit.index + hit[0].length);
          const sign = document.createElement("mark");
          sign.className = "own"; range.surroundContents(sign); hits += 1;
        }
      });
    }
    one("[data-own-hits]").textContent = hits;
  }
  one("[data-words]").addEventListener("submit", (event) => { event.preventDefault(); words.blur(); });
  words.addEventListener("input", () => {
    try { sessionStorage.setItem(WORDS, words.value); } catch { /* not kept */ }
    paintWords();
  });

  function hop(step) {
    const hits = all("mark.term, mark.own", article).filter((hit) => hit.offsetParent);
    if (!hits.length) return;
    const at = hits.findIndex((hit) => hit.classList.contains("at"));
    hits[at]?.classList.remove("at");
    const to = hits[(at + step + hits.length + (at < 0 && step < 0 ? 1 : 0)) % hits.length];
    to.classList.add("at");
    to.scrollIntoView({ block: "center" });
  }

  // Places in a text count characters; JavaScript counts some of them as two.
  const countCharacters = (text) => [...text].length;
  const unitOf = (text, character) => [...text].slice(0, character).join("").length;
  function offsetIn(paragraph, node, offset) {
    const range = document.createRange();
    range.setStart(paragraph, 0); range.setEnd(node, offset);
    return Number(paragraph.dataset.start) + countCharacters(range.toString());
  }
  function markPassage() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) { say("Select a passage first."); return; }
    const range = selection.getRangeAt(0);
    const ends = [[range.startContainer, range.startOffset], [range.endContainer, range.endOffset]].map(([node, offset]) => {
      const paragraph = (node.nodeType === 1 ? node : node.parentElement).closest("p[data-start]");
      return paragraph && article.contains(paragraph) ? offsetIn(paragraph, node, offset) : null;
    });
    if (ends.includes(null) || ends[0] >= ends[1]) { say("Select a passage of the text."); return; }
    spans.push(ends);
    selection.removeAllRanges();
    paintSpans();
    say(spans.length === 1 ? "One passage marked." : `${spans.length} passages marked.`);
  }
  function paintSpans() {
    unwrap("mark.span");
    spans.forEach(([start, end]) => all("p[data-start]", article).forEach((paragraph) => {
      const from = Number(paragraph.dataset.start);
      let at = from;
      textNodes().filter((node) => paragraph.contains(node)).forEach((node) => {
        const length = countCharacters(node.data);
        const low = Math.max(start - at, 0), high = Math.min(end - at, length);
        at += length;
        if (low >= high) return;
        const range = document.createRange();
        range.setStart(node, unitOf(node.data, low)); range.setEnd(node, unitOf(node.data, high));
        const sign = document.createElement("mark");
        sign.className = "span"; range.surroundContents(sign);
      });
    }));
  }

  // Buttons do what keys do.
  grades.addEventListener("submit", (event) => {
    event.preventDefault();
    const button = event.submitter;
    if (!button) return;
    if (button.name === "grade") mark({ grade: Number(button.value) }, "click");
    else if (button.name === "reason") mark({ kind: "cannot", reason: button.value, grade: null }, "click");
    else mark({ kind: "later", grade: null, rationale: "", spans: [] }, "click");
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-undo]") || !seen.length) return;
    event.preventDefault(); undo();
  });
  one("[data-back]").addEventListener("click", lookBack);
  one("[data-passage]").addEventListener("click", markPassage);
  const keyList = one("[data-key-list]");
  one("[data-keys]").addEventListener("click", () => keyList.showModal());

  // Notes are kept when one leaves the field.
  const notes = one("#notes");
  notes.addEventListener("change", () => {
    const body = new FormData(notes.form);
    fetch(notes.form.action, { method: "POST", body, headers: { "X-Requested-With": "judge" } })
      .then((answer) => say(answer.ok ? "Notes kept." : "The notes could not be kept."))
      .catch(() => say("The notes could not be kept."));
  });
  if (innerWidth <= 760) one("[data-topic]").open = false;

  function sayWhy() { one("[data-why]").open = true; why.focus(); }
  const KEYS = {
    z: undo,
    s: () => mark({ kind: "later", grade: null, rationale: "", spans: [] }, "key"),
    x: () => { const box = one("[data-cannot]"); box.open = true; one("button", box).focus(); },
    c: sayWhy,
    w: sayWhy,
    h: markPassage,
    "/": () => words.focus(),
    "]": () => hop(1),
    "[": () => hop(-1),
    arrowleft: lookBack,
    arrowright: forward,
    ...(one("[data-of]", asked) && { arrowup: () => choose(-1), arrowdown: () => choose(1) }),
    t: () => { const box = one("[data-topic]"); box.open = !box.open; },
    g: () => { const box = one("[data-guideline]"); one("[data-topic]").open = true; box.open = !box.open; box.scrollIntoView({ block: "nearest" }); },
    n: () => { one("[data-topic]").open = true; notes.focus(); },
    p: () => one("[data-pause]").click(),
    "?": () => keyList.showModal(),
    " ": () => article.scrollBy({ top: article.clientHeight * 0.85 }),
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.repeat || event.ctrlKey || event.metaKey || event.altKey || keyList.open) return;
    if (event.target.closest?.("input, textarea, select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.key === " " && event.target.closest?.("button, summary, a")) return;
    const button = /^[0-9a-z]$/i.test(event.key) && one(`[data-key="${event.key.toUpperCase()}"]`, grades);
    const act = button ? () => mark({ grade: Number(button.value) }, "key") : KEYS[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
    // Before the keys that every page has.
  }, true);

  requestAnimationFrame(() => { painted = performance.now(); one("#densest", article)?.scrollIntoView({ block: "start" }); });
  send();
})();
