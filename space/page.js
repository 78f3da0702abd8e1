// What the page does in the browser. It is loaded once, in the head; Gradio puts the parts there later, and again.
const query = () => new URLSearchParams(location.search);
// the address with what the page has put there alone: who made a link may have added more, which would be copied
const address = () => `${location.origin}${location.pathname}?${new URLSearchParams([...query()].filter(([name]) => ADDRESSED.includes(name)))}`
  .replace(/[()[\]]/g, (mark) => `%${mark.charCodeAt().toString(16)}`);
const put = (changes, push = false) => {
  const now = query();
  for (const [name, value] of Object.entries(changes)) value ? now.set(name, value) : now.delete(name);
  if (`${now}` !== `${query()}`) history[push ? "pushState" : "replaceState"](null, "", `${location.pathname}?${now}`);
};

// ---- two prices, and all that follows from them

const UNITS = 1e6; // of both axes of the drawing, as in figures.py
const dataOf = (box) => JSON.parse(box.dataset.all); // not kept: Gradio may put another result into the same element
// a curve: where it steps, its cost just before and from there on, and the share of answers that are accepted
const curveOf = (line) => ({
  steps: [...line.getAttribute("d").matchAll(/L(\d+),(\d+)(?:V(\d+))?/g)].map(([, ...step]) => step.map(Number)),
  shares: line.dataset.shares.split(" ").map(Number),
});
// what users pay, of a mistake that costs 1, and how many answers they accept, where a rejected answer costs `at`
const costAt = ({ steps, shares }, at, { largest, top }) => {
  const x = (UNITS * Math.min(at, largest)) / largest;
  let i = 0;
  while (i + 2 < steps.length && steps[i + 1][0] <= x + 0.5) i++;
  const [from, , low] = steps[i], [to, high] = steps[i + 1], part = to > from ? (x - from) / (to - from) : 0;
  return { cost: ((low + (high - low) * part) * top) / UNITS, share: shares[i] / UNITS };
};
const costsAt = (box, data, at) => {
  const found = [...box.querySelectorAll("path[data-shares]")].map((line) => costAt(curveOf(line), at, data));
  found[found.length - 1] = { cost: at, share: 0 }; // which rejects everything, at any price
  return found;
};
// who may be the cheapest: between two tested costs, who may be at both; below the first, nobody is ruled out
const standing = ({ at, best, equal, last, names }, cost) => {
  const after = at.findIndex((one) => one >= Math.min(cost, last) - 1e-9), row = after < 0 ? at.length : after;
  const rows = Math.abs(at[row] - Math.min(cost, last)) < 1e-9 ? [row] : [row - 1, row];
  const may = new Set(rows.flatMap((one) => best[one] ?? [...names.keys()]));
  return { may, isEqual: rows.every((one) => equal[one] ?? 1) };
};
// numbers with so many digits, or as many more as tell all apart that differ
const digitsFor = (numbers, digits) => {
  const differing = (one) => new Set(numbers.map((number) => number.toFixed(one))).size;
  let enough = digits;
  while (enough < digits + 3 && differing(enough) < differing(digits + 3)) enough++;
  return enough;
};
const digitsOf = (wrong) => Math.max(0, 3 - Math.round(Math.log10(wrong)));
const bold = (text) => {
  const strong = document.createElement("b"), name = document.createElement("bdi");
  name.append(text);
  strong.append(name);
  return strong;
};
const fill = (element, template, value) => element.replaceChildren(...template.map((part) => (typeof part === "string" ? part : bold(value(...part)))));
const hundredths = (share) => (share === 0 || share === 1 ? 100 * share : Math.min(Math.max(Math.round(100 * share), 1), 99));
const round = (number) => `${+number.toPrecision(3)}`;
// what each field holds, nan unless it is a number that money has; a comma may mean thousands before three digits, but for 0,125
const pricesOf = (box) => [".wrong", ".rejected"].map((one) => {
  const field = box.querySelector(one), price = /[1-9]\d*,\d{3}\s*$/.test(field.value) ? NaN : Number(field.value.replace(",", "."));
  field.ariaInvalid = !(price >= 1e-9 && price <= 1e15);
  return field.ariaInvalid === "true" ? NaN : price;
});
const NO_PRICES = "Enter two numbers above 0, thousands without a comma. What follows is still of the last ones.";
const show = (box) => {
  const data = dataOf(box), [wrong, rejected] = pricesOf(box), isPriced = wrong > 0 && rejected > 0, note = box.querySelector(".asked");
  note.hidden = isPriced;
  note.textContent = isPriced ? "" : NO_PRICES;
  if (!isPriced) return;
  const at = rejected / wrong, costs = costsAt(box, data, at), last = costs.length - 1;
  const cheapest = [...costs.keys()].sort((i, j) => costs[i].cost - costs[j].cost), { may, isEqual } = standing(data, Math.min(at, data.largest));
  if (!may.has(cheapest[0])) may.add(cheapest[0]);
  const order = [...cheapest.filter((i) => may.has(i)), ...cheapest.filter((i) => !may.has(i))], isClear = may.size === 1 && data.at.length > 0;
  const gap = Math.abs(costs[order[1]].cost - costs[order[0]].cost), isTied = may.size === 2 && gap < 1e-9;
  const template = data.templates.untested ?? data.templates[isEqual && may.size === costs.length ? "equal" : isTied ? "tied" : may.size];
  const said = template.filter((part) => part[0] === "cost").map(([, i]) => wrong * costs[order[i]].cost);
  const digits = digitsFor(said, digitsOf(wrong)), money = (cost) => (wrong * cost).toFixed(digits);
  const amounts = { name: (i) => data.names[order[i]], cost: (i) => money(costs[order[i]].cost), gap: () => money(gap) };
  fill(box.querySelector(".verdict"), template, (kind, i) => amounts[kind](i));
  const { cost, share } = costs[order[0]], right = share && 1 - (cost - Math.min(at, data.largest) * (1 - share)) / share;
  const counts = { name: () => data.names[order[0]], share: () => hundredths(share), right: () => hundredths(Math.abs(right - 1) < 1e-5 ? 1 : right) };
  fill(box.querySelector(".sub"), share ? data.sub : [], (kind) => counts[kind]());
  // bars: up to the dearest system; the cheapest, and what rejects everything, are in sight
  const dearest = Math.max(...costs.slice(0, -1).map((one) => one.cost)), full = Math.max(dearest, Math.min(at, data.cut * dearest)) || 1;
  const bars = new Map([...box.querySelectorAll(".bar")].map((bar) => [+bar.dataset.place, bar])), [shown, others] = box.querySelectorAll(".bars");
  const systems = cheapest.filter((i) => i !== last), seen = new Set([...systems.slice(0, data.shown), last]);
  for (const i of cheapest) {
    const bar = bars.get(i), { cost, share } = costs[i];
    bar.classList.toggle("best", isClear && may.has(i));
    bar.classList.toggle("cut", cost > full * (1 + 1e-9));
    bar.querySelector("i").style.width = `${Math.min(100, (100 * cost) / full)}%`;
    bar.querySelector("b").textContent = money(cost);
    bar.querySelector("small").textContent = cost > full * (1 + 1e-9) ? "the bar is cut" : `answers ${hundredths(share)}%`;
    (seen.has(i) ? shown : others).append(bar);
  }
  // the axes are in the same money
  box.querySelectorAll("[data-at]").forEach((tick) => (tick.textContent = round(wrong * tick.dataset.at)));
  box.querySelector(".price").textContent = round(wrong);
  fill(box.querySelector(".on-costs"), data.costs, (kind, i) => (kind === "at" ? round(wrong * data.ends[i]) : data.names[i]));
  const mark = box.querySelector(".mark"), along = 100 * Math.min(1, at / data.largest);
  mark.style.left = `${along}%`;
  mark.classList.toggle("flip", along > 94);
  mark.firstChild.textContent = `you: ${round(rejected)}${at > data.largest ? " →" : ""}`;
  // a name in the strip stands beside the mark
  box.querySelectorAll(".strip i").forEach(({ dataset: { low, high }, style }) => {
    const [before, after] = [along - (100 * low) / data.largest, (100 * high) / data.largest - along], isMarked = before > 0 && after > 0;
    style.setProperty("--left", `${isMarked && before < after ? before : 0}%`);
    style.setProperty("--right", `${isMarked && before >= after ? after : 0}%`);
  });
};
const ready = () => document.querySelectorAll(".decision:not(.ready)").forEach((box) => {
  box.classList.add("ready");
  for (const price of ["wrong", "rejected"]) if (query().get(price)) box.querySelector(`.${price}`).value = query().get(price);
  show(box);
});
const filter = (field) => {
  const board = field.closest(".filter").parentElement, rows = [...board.querySelectorAll("table.board tbody tr")];
  rows.forEach((row) => (row.hidden = !row.textContent.toLowerCase().includes(field.value.toLowerCase())));
  board.querySelector(".none").hidden = rows.some((row) => !row.hidden);
};
document.addEventListener("input", ({ target }) => {
  if (target.matches?.(".filter input")) filter(target);
  const box = target.closest?.(".decision");
  if (!box) return;
  show(box);
  const [wrong, rejected] = pricesOf(box);
  if (wrong > 0 && rejected > 0) put({ wrong: `${wrong}`, rejected: `${rejected}` });
});
const copy = async (button) => {
  const box = button.closest(".decision"), copied = box.querySelector(".copied");
  const of = (element) => element.textContent.replaceAll("\u2060", "").trim(); // the mark of what is no system
  // as `_markdown` in ecuas_metric/reporting/tables.py
  const plain = (text) => text.replace(/<(?=[A-Za-z/!?])|&(?=[#\w])|:(?=\/\/)|(?<=www)\./g, (mark) => `&#${mark.charCodeAt()};`)
    .replace(/[\\|*`$~]|\](?=[([:])|(?<!\w)_|_(?!\w)/g, "\\$&");
  const prices = pricesOf(box), [wrong, rejected] = prices.map(round);
  if (prices.some(Number.isNaN)) return (copied.textContent = NO_PRICES);
  const rows = [...box.querySelectorAll(".bar")].map((bar) => [".who", "b", "small"].map((one) => plain(of(bar.querySelector(one)))));
  const table = [["model", `cost, if a wrong answer costs ${wrong} and a rejected one ${rejected}`, ""], ["---", "---", "---"], ...rows];
  const lines = [plain(of(box.querySelector(".verdict"))), "", ...table.map((row) => `| ${row.join(" | ")} |`), "", `[Computed here](${address()})`];
  await navigator.clipboard.writeText(lines.join("\n"));
  copied.textContent = "Copied, as Markdown.";
  setTimeout(() => (copied.textContent = ""), 4000);
};

// ---- tabs: in the address, by arrow keys, and back

const slug = (tab) => tab.textContent.trim().toLowerCase();
const tabs = () => [...document.querySelectorAll("[role=tablist] [role=tab]")].filter((tab) => tab.checkVisibility());
let isOpening = false;
const openTab = () => {
  const wanted = query().get("tab") || "compare", tab = tabs().find((one) => slug(one) === wanted);
  if (!tab) return false;
  isOpening = true;
  if (tab.ariaSelected !== "true") tab.click();
  isOpening = false;
  return true;
};
addEventListener("popstate", openTab);
document.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], all = tabs(), at = all.indexOf(event.target);
  if (!step || at < 0) return;
  const next = all[(at + step + all.length) % all.length];
  next.focus();
  next.click();
});

// ---- sorted tables

const sortBy = (header) => {
  const column = header.cellIndex, body = header.closest("table").tBodies[0];
  const text = (row) => row.cells[column].textContent.trim();
  const order = (one, other) => parseFloat(text(one)) - parseFloat(text(other)) || text(one).localeCompare(text(other));
  body.append(...[...body.rows].sort(order));
  header.closest("tr").querySelectorAll("th").forEach((one) => one.toggleAttribute("aria-sort", false));
  header.setAttribute("aria-sort", "ascending");
};
const order = () => document.querySelectorAll("table.sorted:not(.ready)").forEach((table) => {
  table.classList.add("ready");
  sortBy(table.querySelector(`th[data-key="${query().get("by") || "ecuas_1"}"]`) || table.querySelector("th[data-key]"));
});
document.addEventListener("click", ({ target }) => {
  const tab = target.closest?.("[role=tab]"), header = target.closest?.("th[data-key]"), button = target.closest?.(".copy");
  if (tab && !isOpening) put({ tab: slug(tab) === "compare" ? "" : slug(tab) }, true);
  if (header) sortBy(header), put({ by: header.dataset.key });
  if (button) copy(button);
});

let hasOpened = false;
// what came is put in sight, unless the page has just opened
const arrive = (result) => {
  if (result && scrollY && result.getBoundingClientRect().top < 0) result.scrollIntoView();
};
const putAll = () => document.querySelectorAll(".address:not(.ready)").forEach((one) => {
  one.classList.add("ready");
  put(JSON.parse(one.dataset.changes));
  arrive(one.closest(".result"));
});
new MutationObserver(() => {
  putAll();
  ready();
  order();
  hasOpened ||= openTab();
}).observe(document, { childList: true, subtree: true });

// ---- what the curves cost under the pointer

const tip = (event) => {
  document.querySelectorAll(".tip, .hair").forEach((old) => old.remove());
  const plot = event.target.closest?.(".plot"), box = plot?.closest(".decision");
  if (!box) return;
  const { left, width, top } = plot.getBoundingClientRect(), part = (event.clientX - left) / width, [wrong] = pricesOf(box);
  if (part < 0 || part > 1 || !(wrong > 0)) return;
  const data = dataOf(box), at = part * data.largest, costs = costsAt(box, data, at), lines = box.querySelectorAll("path[data-shares]:not(.rest)");
  const [note, hair] = ["tip", "hair"].map((name) => Object.assign(document.createElement("div"), { className: name }));
  const all = [...box.querySelectorAll("path[data-shares]")];
  const rows = [...lines].map((line) => [all.indexOf(line), line.getAttribute("class")]).sort(([i], [j]) => costs[i].cost - costs[j].cost);
  const digits = digitsOf(wrong);
  note.append(`if a rejected answer costs ${round(wrong * at)}`, ...rows.map(([i, style]) => {
    const row = document.createElement("p"), name = document.createElement("bdi"), cost = document.createElement("b");
    row.className = style;
    name.append(data.names[i]);
    cost.append((wrong * costs[i].cost).toFixed(digits));
    row.append(name, " ", cost);
    return row;
  }));
  hair.style.left = `${100 * part}%`;
  note.style.top = `${event.clientY - top + 14}px`;
  note.style[part > 0.5 ? "right" : "left"] = `${part > 0.5 ? width * (1 - part) + 10 : width * part + 10}px`;
  plot.append(hair, note);
};
for (const kind of ["pointermove", "pointerdown"]) document.addEventListener(kind, tip);
