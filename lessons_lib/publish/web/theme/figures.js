// Brings interactive figures to life: beside each still picture lies the figure's data, and plotly draws it once it comes into view.
// plotly lies beside this file and is loaded by the first figure that needs it. Without scripts the picture stays.
(() => {
  const here = document.currentScript.src.replace(/[^/]*$/, "");
  let plotly = null;
  const load = () => plotly ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = here + "plotly.min.js";
    script.onload = () => done(window.Plotly);
    script.onerror = failed;
    document.head.append(script);
  });
  const draw = async (figure) => {
    const drawing = JSON.parse(figure.querySelector("script").textContent);
    const place = document.createElement("div");
    const Plotly = await load();
    const height = Math.max(figure.clientHeight, 380);
    figure.querySelector("img").hidden = true;
    figure.append(place);
    await Plotly.newPlot(place, drawing.data, {...drawing.layout, width: undefined, height, autosize: true}, {responsive: true, displaylogo: false});
    figure.classList.add("alive");
  };
  const ready = () => {
    const inView = new IntersectionObserver((seen) => seen.filter((s) => s.isIntersecting).forEach((s) => {
      inView.unobserve(s.target);
      draw(s.target);
    }));
    document.querySelectorAll("figure.interactive").forEach((figure) => inView.observe(figure));
  };
  document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", ready) : ready();
})();
