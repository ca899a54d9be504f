// Keyboard: j and k walk through the rows of a list, Enter opens the one that has the focus, / goes to the search.
"use strict";
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing) {
    if (event.key === "Escape") typing.blur();
    return;
  }
  const search = document.querySelector("[data-search]");
  if (event.key === "/" && search) {
    event.preventDefault();
    search.focus();
  } else if (event.key === "j" || event.key === "k") {
    const rows = [...document.querySelectorAll("[data-row]")];
    if (!rows.length) return;
    const at = rows.indexOf(document.activeElement);
    const next = at < 0 ? (event.key === "j" ? 0 : rows.length - 1) : at + (event.key === "j" ? 1 : -1);
    const row = rows[Math.max(0, Math.min(rows.length - 1, next))];
    row.focus();
    row.scrollIntoView({ block: "nearest" });
  }
});
