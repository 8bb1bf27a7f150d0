// Battles by keys: an arrow decides the pair.  The page works without this.
"use strict";

(() => {
  const form = document.querySelector("[data-battle]");
  if (!form) return;
  const buttons = [...form.querySelectorAll("[data-key]")];
  const why = form.querySelector("[data-why]");
  let isArmed = false;

  // A pair that nobody has looked at must not be decided by a key held down.
  const votes = form.querySelectorAll(".four button");
  votes.forEach((button) => { button.disabled = true; });
  setTimeout(() => {
    isArmed = true;
    votes.forEach((button) => { button.disabled = false; });
  }, 1000 * Number(form.dataset.wait) + 100);

  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, textarea, select");
    if (isTyping || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.toLowerCase() === "c") {
      event.preventDefault();
      why.open = true;
      why.querySelector("textarea").focus();
      return;
    }
    const chosen = buttons.find((button) => button.dataset.key.toLowerCase() === event.key.toLowerCase());
    if (!chosen || (chosen.closest(".four") && !isArmed)) return;
    event.preventDefault();
    chosen.click();
  });
})();
