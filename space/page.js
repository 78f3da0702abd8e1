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

// ---- the reject cost: two prices, or a slider

const dataOf = (box) => JSON.parse(box.dataset.all); // not kept: Gradio may put another result into the same element
const show = (box) => {
  const at = box.querySelector("input[type=range]"), data = dataOf(box), row = +at.value, cost = data.at[row].toFixed(2);
  at.setAttribute("aria-valuetext", cost);
  box.querySelector("output").textContent = cost;
  box.querySelector(".said").replaceChildren(...box.querySelector(".sayings").children[row].cloneNode(true).children);
  // the cheapest here have a bar, and the last, which rejects everything
  const costs = data.costs.map((one) => one[row]), last = costs.length - 1;
  const cheapest = [...costs.keys()].slice(0, -1).sort((i, j) => costs[i] - costs[j]).slice(0, data.most);
  box.querySelectorAll(".costs li").forEach((bar, i) => {
    const best = data.best[row].includes(i), clear = best && data.best[row].length === 1;
    bar.hidden = i !== last && !cheapest.includes(i);
    bar.classList.toggle("best", clear);
    bar.classList.toggle("open", best && !clear);
    bar.querySelector("i").style.width = `${(100 * costs[i]) / (data.highest || 1)}%`;
    bar.querySelector("b").textContent = costs[i].toFixed(3) + (clear ? " ★" : "");
    bar.querySelector("small").textContent = `answers ${data.shares[i][row]}%`;
  });
};
const remark = (box, text) => {
  const note = box.querySelector(".asked");
  note.hidden = !text;
  note.textContent = text;
};
// moves the slider to the nearest reject cost that is tested, and says so where that is another one
const nearest = (box, cost) => {
  const at = dataOf(box).at, distances = at.map((one) => Math.abs(one - cost)), row = distances.indexOf(Math.min(...distances));
  const asked = +cost.toPrecision(3), most = at[at.length - 1];
  box.querySelector("input[type=range]").value = row;
  if (Math.abs(cost - at[row]) <= 5e-4) remark(box, "");
  else if (cost > most) remark(box, `Your reject cost is ${asked}. From ${most} on it pays to use every answer: the verdict is that at ${most}.`);
  else remark(box, `Your reject cost is ${asked}. The nearest that is tested here is ${at[row]}.`);
};
const NO_COSTS = "Enter both costs: more than 0 for a wrong answer, 0 or more for a rejected one. The verdict is still that at the last reject cost.";
const priced = (box) => {
  const [wrong, rejected] = [".wrong", ".rejected"].map((one) => box.querySelector(one).valueAsNumber);
  wrong > 0 && rejected >= 0 ? nearest(box, rejected / wrong) : remark(box, NO_COSTS);
};
const price = (box) => {
  const wrong = box.querySelector(".wrong"), rejected = box.querySelector(".rejected");
  const cost = dataOf(box).at[+box.querySelector("input[type=range]").value];
  if (!(wrong.valueAsNumber > 0)) wrong.value = 10;
  if (!(Math.abs(rejected.valueAsNumber / wrong.value - cost) <= 5e-4)) rejected.value = +(wrong.value * cost).toPrecision(3);
};
const ready = () => document.querySelectorAll(".decision:not(.ready)").forEach((box) => {
  box.classList.add("ready");
  const wanted = parseFloat(query().get("reject_cost"));
  if (wanted > 0) nearest(box, wanted), price(box);
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
  if (target.type === "range") price(box), remark(box, "");
  else priced(box);
  show(box);
  put({ reject_cost: dataOf(box).at[+box.querySelector("input[type=range]").value].toFixed(2) });
});
const verdictOf = (box) => {
  const of = (element) => element.innerText.replaceAll("\u2060", "").trim(); // the mark of what is no system
  const bars = [...box.querySelectorAll(".costs li:not([hidden])")].map((bar) => ({
    name: of(bar.querySelector(".who")), cost: of(bar.querySelector("b")), share: bar.querySelector("small").textContent.replace("answers ", ""),
  }));
  return { said: [...box.querySelectorAll(".said p")].map(of), bars };
};
const FORMS = {
  text: ({ said, bars }) => [...said, ...bars.map(({ name, cost, share }) => `${name}  ${cost}  answers ${share}`), address()].join("\n"),
  Markdown: ({ said, bars }) => {
    // as `_markdown` in ecuas_metric/reporting/tables.py
    const plain = (text) => text.replace(/<(?=[A-Za-z/!?])|&(?=[#\w])|:(?=\/\/)|(?<=www)\./g, (mark) => `&#${mark.charCodeAt()};`)
      .replace(/[\\|*`$~]|\](?=[([:])|(?<!\w)_|_(?!\w)/g, "\\$&");
    const rows = [["system", "cost", "answers"], ["---", "---", "---"], ...bars.map(({ name, cost, share }) => [plain(name), cost, share])];
    const table = rows.map((row) => `| ${row.join(" | ")} |`);
    return [`**${plain(said[0])}**`, "", ...said.slice(1).map(plain), "", ...table, "", `[Computed here](${address()})`].join("\n");
  },
};
const pictureOf = ({ said, bars }) => {
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d"), high = 34;
  canvas.width = 1000, canvas.height = high * (said.length + bars.length + 1.5);
  pen.fillStyle = "#fff", pen.fillRect(0, 0, canvas.width, canvas.height), pen.fillStyle = "#111";
  const most = Math.max(...bars.map((bar) => parseFloat(bar.cost)));
  said.forEach((line, row) => {
    pen.font = `${row ? "" : "bold "}20px system-ui, sans-serif`;
    pen.fillText(line, 20, high * (row + 1), canvas.width - 40);
  });
  bars.forEach(({ name, cost, share }, place) => {
    const y = high * (said.length + place + 1.25);
    pen.font = "18px system-ui, sans-serif", pen.fillStyle = "#111";
    pen.fillText(name, 20, y, 300), pen.fillText(`${cost}  answers ${share}`, 760, y, 220);
    pen.fillStyle = cost.includes("★") ? "#1d6fb8" : "#9aa3ad", pen.fillRect(340, y - 16, (400 * parseFloat(cost)) / (most || 1), 20);
  });
  return new Promise((done) => canvas.toBlob(done, "image/png"));
};
const copy = async (button) => {
  const box = button.closest(".decision"), form = button.dataset.form, verdict = verdictOf(box), said = box.querySelector(".copied");
  if (form in FORMS) await navigator.clipboard.writeText(FORMS[form](verdict));
  else await navigator.clipboard.write([new ClipboardItem({ "image/png": pictureOf(verdict) })]);
  said.textContent = `Copied as ${form}.`;
  setTimeout(() => (said.textContent = ""), 4000);
};

// ---- tabs: in the address, by arrow keys, and back

const slug = (tab) => tab.textContent.trim().toLowerCase();
const tabs = () => [...document.querySelectorAll("[role=tablist] [role=tab]")].filter((tab) => tab.checkVisibility());
let isOpening = false;
const openTab = () => {
  const wanted = query().get("tab") || "score", tab = tabs().find((one) => slug(one) === wanted);
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
  if (tab && !isOpening) put({ tab: slug(tab) === "score" ? "" : slug(tab) }, true);
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

// ---- the values of curves

const tip = (event) => {
  document.querySelectorAll(".tip").forEach((old) => old.remove());
  const figure = event.target.closest?.(".plot"), curves = figure?.querySelector(".curves");
  if (!curves) return;
  const [xTitle, xLow, xHigh, yTitle, yLow, yHigh, names] = JSON.parse(curves.dataset.axes);
  const box = curves.getScreenCTM(), wide = curves.width.baseVal.value, high = curves.height.baseVal.value;
  const x = (event.clientX - box.e) / box.a;
  if (x < 0 || x > wide) return;
  const round = (value) => +value.toPrecision(3), said = (at) => names[Math.round(at)] ?? names[`${Math.round(at)}.0`] ?? round(at);
  const lines = [...curves.querySelectorAll("g[data-name]:not(.rest)")].reverse().map((line) => {
    const points = line.querySelector("path").getAttribute("d").slice(1).split(" ").map((pair) => pair.split(",").map(Number));
    const near = points.reduce((best, point) => (Math.abs(point[0] - x) < Math.abs(best[0] - x) ? point : best));
    const at = xLow + (near[0] / wide) * (xHigh - xLow), value = yHigh - (near[1] / high) * (yHigh - yLow);
    return `${line.dataset.name}: ${round(value)} at ${said(at)}`;
  });
  const note = document.createElement("div");
  note.className = "tip";
  note.append(`${yTitle} by ${xTitle}`, ...lines.flatMap((text) => [document.createElement("br"), text]));
  figure.append(note);
  const place = figure.getBoundingClientRect(), left = event.clientX - place.left;
  note.style.top = `${event.clientY - place.top + 14}px`;
  note.style[x > wide / 2 ? "right" : "left"] = `${x > wide / 2 ? place.width - left + 10 : left + 10}px`;
};
for (const kind of ["pointermove", "pointerdown"]) document.addEventListener(kind, tip);
