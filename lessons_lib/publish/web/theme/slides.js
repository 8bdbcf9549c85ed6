// Starts MathJax and reveal.js, both of which lie beside this file.
window.MathJax = {
  tex: {inlineMath: [["\\(", "\\)"]], displayMath: [["\\[", "\\]"]]}, options: {enableMenu: false},
  // The window of the speaker's notes has no style to hide one of the two forms of a formula: there only the one in words of MathML stays.
  startup: {pageReady: () => MathJax.startup.defaultPageReady().then(() => document.querySelectorAll("aside.notes mjx-container")
    .forEach((formula) => formula.replaceWith(formula.querySelector("math"))))},
};
document.addEventListener("DOMContentLoaded", () => {
  Reveal.initialize({
    width: 1280, height: 720, margin: 0, center: false, hash: true, slideNumber: "c/t", transition: "none", plugins: [RevealNotes],
  });
  const fold = (open) => ({fragment}) => {                   // the answer takes the place of the question
    const question = fragment.closest("section").querySelector("details.question");
    if (question) question.open = open;
  };
  Reveal.on("fragmentshown", fold(false));
  Reveal.on("fragmenthidden", fold(true));
});
