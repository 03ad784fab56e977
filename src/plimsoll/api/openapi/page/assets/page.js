"use strict";
const operations = [...document.querySelectorAll("details.operation")];
const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a.parentElement]));
const texts = new Map(operations.map((each) => [each, each.textContent.toLowerCase()]));
const field = document.getElementById("q");
const version = document.getElementById("version");

function filter() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const each of operations) {
    const matches = words.every((word) => texts.get(each).includes(word));
    each.hidden = !matches;
    links.get(each.id).hidden = !matches;
    shown += matches;
  }
  for (const list of document.querySelectorAll("nav ul")) {
    list.hidden = list.previousElementSibling.hidden = [...list.children].every((each) => each.hidden);
  }
  document.getElementById("nothing").hidden = shown > 0;
}

function remember() {
  const query = new URLSearchParams(location.search);
  if (field.value) query.set("q", field.value);
  else query.delete("q");
  const text = query.toString();
  history.replaceState(null, "", location.pathname + (text ? "?" + text : "") + location.hash);
}

function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (target && target.matches("details.operation")) {
    target.open = true;
    target.scrollIntoView();
  }
}

field.value = new URLSearchParams(location.search).get("q") || "";
field.addEventListener("input", () => { filter(); remember(); });
version.addEventListener("change", () => version.form.submit());
window.addEventListener("hashchange", openTarget);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
});
filter();
openTarget();
