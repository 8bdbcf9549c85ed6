// Brings interactive figures to life: beside each still picture lies the figure's data, and plotly draws it on the reader's word,
// on a slide once it comes into view. plotly lies beside this file and is loaded by the first figure that needs it, for it is as
// large as four lessons. Without scripts the picture stays.
// plotly's own sliders and menus are drawings that no keyboard reaches, so the page's own controls take their place.
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

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  const slider = (place, {steps, active = 0, currentvalue = {}}, run) => {
    const value = element("output", {textContent: steps[active].label});
    const range = element("input", {type: "range", min: 0, max: steps.length - 1, value: active});
    const show = (position) => {
      value.textContent = steps[position].label;
      range.setAttribute("aria-valuetext", steps[position].label);
    };
    show(active);
    range.addEventListener("input", () => { show(+range.value); run(steps[+range.value]); });
    place.on("plotly_animatingframe", ({name}) => {            // the play button moves the slider along
      const position = steps.findIndex((step) => step.args?.[0]?.[0] === name);
      if (position >= 0) { range.value = position; show(position); }
    });
    return element("label", {}, `${(currentvalue.prefix || "step").replace(/[:\s]+$/, "")} `, range, " ", value);
  };

  const menu = ({type, buttons, active = 0}, run) => {
    if (type === "buttons") {
      return buttons.map((step) => {
        const button = element("button", {type: "button", textContent: step.label});
        button.addEventListener("click", () => run(step));
        return button;
      });
    }
    const select = element("select", {}, ...buttons.map((step) => element("option", {textContent: step.label})));
    select.selectedIndex = active;
    select.addEventListener("change", () => run(buttons[select.selectedIndex]));
    return [element("label", {}, "show ", select)];
  };

  const draw = async (figure) => {
    const {data, layout: {sliders = [], updatemenus = [], ...layout}, frames} = JSON.parse(figure.querySelector("script").textContent);
    const Plotly = await load();
    const [place, still, onSlide] = [element("div", {}), figure.querySelector("img"), figure.closest(".reveal")];
    const controls = element("div", {className: "turns"});
    const room = figure.clientHeight - (sliders.length + updatemenus.length ? 50 : 0);
    still.hidden = true;
    figure.append(place, controls);
    const height = onSlide ? room : layout.height ?? 460;
    const font = {...layout.font, size: (layout.font?.size ?? 12) * (onSlide ? 1.4 : 1)};
    await Plotly.newPlot(place, {data, frames: frames ?? [], layout: {...layout, font, width: undefined, height, autosize: true},
                                 config: {responsive: true, displaylogo: false}});
    const run = ({method, args}) => Plotly[method](place, ...args);
    controls.append(...updatemenus.flatMap((one) => menu(one, run)), ...sliders.map((one) => slider(place, one, run)));
    figure.classList.add("alive");
  };

  const ready = () => {
    const inView = new IntersectionObserver((seen) => seen.filter((s) => s.isIntersecting).forEach((s) => {
      inView.unobserve(s.target);
      draw(s.target);
    }));
    document.querySelectorAll("figure.interactive").forEach((figure) => {
      if (figure.closest(".reveal")) return inView.observe(figure);
      const button = element("button", {type: "button", className: "turn-on", textContent: "Move this picture"});
      button.addEventListener("click", async () => { button.remove(); await draw(figure); figure.querySelector("input, select, button")?.focus(); });
      figure.append(button);
    });
    const wide = new ResizeObserver((formulas) => formulas.forEach(({target}) => {       // what scrolls is reached by keyboard
      const scrolls = target.classList.toggle("wide", target.scrollWidth > target.clientWidth + 1);
      scrolls ? target.tabIndex = 0 : target.removeAttribute("tabindex");
    }));
    document.querySelectorAll(".math").forEach((formula) => wide.observe(formula));
  };
  document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", ready) : ready();
})();
