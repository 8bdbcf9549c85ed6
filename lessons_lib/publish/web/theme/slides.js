// Starts MathJax and reveal.js, both of which lie beside this file.
window.MathJax = {tex: {inlineMath: [["\\(", "\\)"]], displayMath: [["\\[", "\\]"]]}, options: {enableMenu: false}};
document.addEventListener("DOMContentLoaded", () => Reveal.initialize({
  width: 1280, height: 720, margin: 0.03, center: false, hash: true, slideNumber: "c/t", transition: "none", plugins: [RevealNotes],
}));
