// What is wider or higher than its place scrolls, also by the keyboard; the two lists at the sides have names.
addEventListener("load", () => {
  for (const box of document.querySelectorAll("pre, .table-wrapper, .math-wrapper")) {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
  }
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
});
