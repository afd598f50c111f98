"use strict";
// Filters of a list: a word that its entries hold, and choices by what they are marked with.
for (const box of document.querySelectorAll("[data-filters]")) {
  const entries = Array.from(document.getElementById(box.dataset.filters).children);
  const fields = Array.from(box.querySelectorAll("[data-field]"));
  const told = box.querySelector("output");
  const texts = new Map();
  const text = (entry) => {
    if (!texts.has(entry)) texts.set(entry, entry.textContent.toLowerCase());
    return texts.get(entry);
  };
  const fits = (entry, field) => {
    const wanted = field.value.trim();
    if (wanted === "") return true;
    if (field.dataset.field === "text") return text(entry).includes(wanted.toLowerCase());
    return entry.dataset[field.dataset.field] === wanted;
  };
  const apply = () => {
    let shown = 0;
    for (const entry of entries) {
      entry.hidden = !fields.every((field) => fits(entry, field));
      shown += entry.hidden ? 0 : 1;
    }
    told.textContent = shown.toLocaleString("en") + " of " + entries.length.toLocaleString("en");
  };
  for (const field of fields) field.addEventListener("input", apply);
  const opener = box.querySelector("button");
  opener.addEventListener("click", () => {
    const visible = entries.filter((entry) => entry.hidden === false);
    const opened = visible.some((entry) => entry.querySelector("details").open === false);
    for (const entry of visible) entry.querySelector("details").open = opened;
  });
  box.hidden = false;
  apply();
}
