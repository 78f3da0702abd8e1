const show = (box) => {
  const at = box.querySelector("input[type=range]"), data = JSON.parse(box.dataset.all), row = +at.value;
  window.ecuasRejectCost = data.at[row];
  at.setAttribute("aria-valuetext", data.at[row]);
  box.querySelector("output").textContent = data.at[row];
  box.querySelector(".said").innerHTML = data.said[row];
  box.querySelectorAll(".costs li").forEach((bar, i) => {
    const cost = data.costs[i][row], best = data.best[row].includes(i), clear = best && data.best[row].length === 1;
    bar.classList.toggle("best", clear);
    bar.classList.toggle("open", best && !clear);
    bar.querySelector("i").style.width = `${(100 * cost) / (data.highest || 1)}%`;
    bar.querySelector("b").textContent = cost + (clear ? " ★" : "");
    bar.querySelector("small").textContent = `answers ${data.shares[i][row]}%`;
  });
};
const open = () => element.querySelectorAll(".decision:not(.ready)").forEach((box) => {
  box.classList.add("ready");
  const wanted = JSON.parse(box.dataset.all).at.indexOf(window.ecuasRejectCost);
  if (wanted >= 0) box.querySelector("input[type=range]").value = wanted;
  show(box);
});
element.addEventListener("input", (event) => event.target.type === "range" && show(event.target.closest(".decision")));
new MutationObserver(open).observe(element, { childList: true, subtree: true });
open();

const tip = (event) => {
  document.querySelectorAll(".tip").forEach((old) => old.remove());
  const figure = event.target.closest(".plot"), curves = figure?.querySelector(".curves");
  if (!curves) return;
  const [xTitle, xLow, xHigh, yTitle, yLow, yHigh, names] = JSON.parse(curves.dataset.axes);
  const box = curves.getScreenCTM(), wide = curves.width.baseVal.value, high = curves.height.baseVal.value;
  const x = (event.clientX - box.e) / box.a;
  if (x < 0 || x > wide) return;
  const round = (value) => +value.toPrecision(3), said = (at) => names[Math.round(at)] ?? round(at);
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
if (!window.ecuasTips) {
  window.ecuasTips = true;
  for (const kind of ["pointermove", "pointerdown"]) document.addEventListener(kind, tip);
}
