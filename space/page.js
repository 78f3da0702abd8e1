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
    bar.querySelector("b").textContent = cost.toFixed(3) + (clear ? " ★" : "");
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
