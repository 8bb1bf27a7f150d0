// Submitting a system: which file is for which track, by its name, before it is sent.
// The page works without this file: the server recognises every file and says so.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const form = one("#submit-system");
  if (!form) return;
  all(".drop", form).forEach((zone) => dropZone(form, zone));
  all("[type=file]", form).forEach((input) => input.addEventListener("change", () => recognise(form)));
});

function recognise(form) {
  const slugs = form.dataset.slugs.split(" ").filter(Boolean);
  const folder = [...one("[name=folder]", form).files];
  // A browser sends the paths of a folder's files without their folders.
  one("[name=paths]", form).value = folder.map(pathOf).join("\n");
  one("[name=idempotency_key]", form).value = newKey();
  const files = [...one("[name=files]", form).files, ...folder];
  const rows = files.filter((file) => !pathOf(file).split("/").some((part) => part.startsWith("."))).map((file) => describe(file, slugs));
  const table = make("table", { className: "short sent" });
  table.append(...rows);
  one("[data-recognised]", form).replaceChildren(...(rows.length ? [table] : []));
}

const pathOf = (file) => file.webkitRelativePath || file.name;

function describe(file, slugs) {
  const parts = pathOf(file).split("/");
  const stems = [parts.at(-1).split(".")[0], ...parts.slice(0, -1).reverse()].map((part) => part.toLowerCase());
  const track = stems.map((stem) => slugs.find((slug) => slug.toLowerCase() === stem)).find(Boolean);
  const words = track ? `for ${track}` : file.name.endsWith(".zip") ? "opened once it is sent" : "recognised by its topics once it is sent";
  const head = make("th", { textContent: pathOf(file) });
  head.scope = "row";
  const row = make("tr", {});
  row.append(head, make("td", { textContent: words }));
  return row;
}
