// The page around the encoder: what the reader types and chooses, and the five pictures of it.
// `update` runs after each change; it reads the sentences again only where they are others.

const started = performance.now();
const place = (id) => document.getElementById(id);
const data = JSON.parse(place("data").textContent);
const tensors = readTensors(place("tensors").textContent);
const wordPiece = new WordPiece(data.pieces, data.characters);
const { dim, layers, heads, positions } = data.sizes;
const models = { trained: trainedBert(data.sizes, tensors) };  // the control is made when asked for
const whitenings = new Map();
const readings = new Map();
const SPECIAL = ["[CLS]", "[SEP]"];

const EXAMPLES = [
  ["the same in other words", "A man plays a guitar on the street.",
   "A musician is playing the guitar in the street."],
  ["words it never met", "The cat sleeps on the sofa.", "A kitten is napping on the couch."],
  ["one word turns it round", "The shop is open on Sundays.", "The shop is not open on Sundays."],
  ["who did it to whom", "The dog bit the man.", "The man bit the dog."],
  ["one word, two meanings", "She sat on the bank of the river.",
   "She took her money to the bank."],
  ["nothing in common", "I bought two tickets for the opera.", "Fold the eggs into the batter."],
  ["words with slips", "The weather is wonderful today.", "Teh waether is wondreful tody."],
  ["Chinese, which it never read", "猫在沙发上睡觉。", "今天股票市场下跌了。"],
];

// ------------------------------------------------------------------------------ what is asked

function settings() {
  const chosen = (name) => document.querySelector(`input[name=${name}]:checked`).value;
  return { model: chosen("model"), shown: Number(chosen("shown")), pooling: place("pooling").value,
           layer: Number(place("layer").value), beta: Number(place("beta").value),
           gamma: Number(place("gamma").value), head: place("head").value };
}

// Tokens, hidden states and attention of a text; the last ones are kept.
function reading(model, text) {
  const encoded = wordPiece.encode(text, positions);
  const key = `${model} ${encoded.ids}`;
  if (!readings.has(key)) {
    models[model] ??= untrainedBert(data.sizes, data.matrices);
    readings.set(key, models[model].read(encoded.ids));
    if (readings.size > 8) readings.delete(readings.keys().next().value);
  }
  return { ...encoded, ...readings.get(key) };
}

// What Python measured for a model, a pooling and a layer; undefined where all vectors are equal.
function measured({ model, pooling, layer }) {
  const key = `${model}.${pooling}.${layer}`;
  if (!whitenings.has(key) && key + ".mean" in tensors) {
    const whitening = new Whitening({ mean: tensors[key + ".mean"].data,
                                      spectrum: tensors[key + ".spectrum"].data,
                                      axes: dequantised(tensors, key + ".axes"),
                                      least: tensors[key + ".least"].data[0],
                                      n: data.sentences.length });
    whitenings.set(key, { whitening, cloud: dequantised(tensors, key + ".cloud"),
                          cosines: tensors[key + ".cosines"].data,
                          spearman: tensors[key + ".spearman"].data });
  }
  return whitenings.get(key);
}

// The row of a table of all β and γ.
const step = ({ beta, gamma }) => data.steps.indexOf(beta) * data.steps.length
  + data.steps.indexOf(gamma);

function cosinesOfPairs(known, now) {
  const n = data.pairs.length;
  return Array.from(known.cosines.subarray(step(now) * n, (step(now) + 1) * n), (c) => c / 127);
}

function update() {
  const begun = performance.now();
  const now = settings();
  const texts = [place("text0").value, place("text1").value];
  const read = texts.map((text) => reading(now.model, text));
  const encoded = performance.now();
  const known = measured(now);
  const pooled = read.map(({ states, n }) => pool(states[now.layer], n, dim, now.pooling));
  const whitened = known && (now.beta || now.gamma)
    ? pooled.map((x) => known.whitening.transform(x, now.beta, now.gamma)) : pooled;
  const shown = { now, texts, read, known, pooled, whitened, cosine: cosine(...whitened) };
  [drawControls, drawTokens, drawNorms, drawAttention, drawStrips, drawScale, drawCloud]
    .forEach((draw) => draw(shown));
  const done = performance.now();
  place("took").textContent = `Last change: ${Math.round(done - begun)} ms (encoder `
    + `${Math.round(encoded - begun)} ms).`;
  announce(shown);
  return shown;
}

// ------------------------------------------------------------------------------ words

const figure = (value, digits = 2) => value.toFixed(digits).replace("-", "\u2212");
const percent = (share) => `${Math.round(100 * share)} %`;
const bare = (token) => token.replace("##", "");
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

function verdict({ now, known, cosine: mine, texts, read }) {
  if (!texts.every((text) => wordPiece.words(text).length))
    return "A text without a word: what you see comes from [CLS] and [SEP] alone.";
  if (!known) return "At layer 0 the first token is the same in every text: choose a higher layer.";
  const others = cosinesOfPairs(known, now);
  const below = others.filter((other) => other < mine).length / others.length;
  const share = below === 1 ? "higher than in every pair of the course"
    : below === 0 ? "lower than in every pair of the course"
      : `higher than in ${percent(below)} of the course’s pairs`;
  const unknown = read.every(({ tokens }) =>
    tokens.filter((token) => token === "[UNK]").length > tokens.length / 2);
  return `${now.model === "trained" ? "" : "With weights by chance: "}${share}.`
    + (unknown ? " Most tokens are unknown: it says nothing of the meaning." : "");
}

let waiting;
function announce(shown) {
  clearTimeout(waiting);                                        // not while the reader types
  waiting = setTimeout(() => {
    place("said").textContent = `Cosine ${figure(shown.cosine)}. ${verdict(shown)}`;
  }, 800);
}

function drawControls(shown) {
  const { now } = shown;
  place("cosine").textContent = figure(shown.cosine);
  place("verdict").textContent = verdict(shown);
  const say = (id, text) => {
    place(id).nextElementSibling.textContent = text;
    place(id).setAttribute("aria-valuetext", text);
  };
  say("layer", `${now.layer} of ${layers}`);
  say("beta", figure(now.beta));
  say("gamma", figure(now.gamma));
}

// ------------------------------------------------------------------------------ 1: tokens

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function drawTokens({ read }) {
  read.forEach(({ tokens, ids, left }, i) => {
    const chips = tokens.map((token, t) => {
      const kind = SPECIAL.includes(token) ? "frame" : token === "[UNK]" ? "unknown"
        : token.startsWith("##") ? "on" : "";
      return element("span", { className: kind }, token,
                     element("small", { textContent: ids[t] }));
    });
    const unknown = tokens.filter((token) => token === "[UNK]").length;
    const notes = [`${tokens.length} tokens, with [CLS] before and [SEP] after the text.`];
    if (unknown) notes.push(`${unknown} unknown: the model cannot tell them apart.`);
    if (left) notes.push(`${left} more are cut off: it reads ${positions} at most.`);
    place(`tokens${i}`).replaceChildren(...chips, element("p", { textContent: notes.join(" ") }));
  });
}

// ------------------------------------------------------------------------------ 2: layers

function drawNorms({ now, read }) {
  const { tokens, states, n } = read[now.shown];
  const numbers = Array.from({ length: layers + 1 }, (_, layer) => layer);
  const norms = tokens.map((_, t) => states.map((state) => norm(state, t * dim, (t + 1) * dim)));
  const highest = Math.max(...norms.flat());
  const cell = (name, layer, properties) =>
    element(name, { ...properties, className: layer === now.layer ? "chosen" : "" });
  const line = (name, cells) =>
    element("tr", {}, element("th", { textContent: name, scope: "row" }), ...cells);
  const head = element("tr", {}, element("th", { textContent: "token", scope: "col" }),
                       ...numbers.map((layer) => cell("th", layer, { scope: "col",
                         textContent: layer ? layer : "layer 0" })));
  const rows = norms.map((values, t) => line(tokens[t], values.map((value, layer) => {
    const made = cell("td", layer, { textContent: value.toFixed(1) });
    made.style.backgroundColor = `rgba(var(--high), ${(0.4 * value / highest).toFixed(3)})`;
    return made;
  })));
  const foot = line("pooled", states.map((state, layer) =>
    cell("td", layer, { textContent: norm(pool(state, n, dim, now.pooling)).toFixed(1) })));
  place("norms").replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows),
                                 element("tfoot", {}, foot));
}

// The attention of the block below the chosen layer: the mean of its heads, or one of them.
function attentionOf({ now, read }) {
  const { attention, n } = read[now.shown];
  const all = attention[Math.max(0, now.layer - 1)];
  if (now.head !== "mean") return all[Number(now.head)];
  return Float32Array.from({ length: n * n }, (_, i) =>
    all.reduce((sum, one) => sum + one[i], 0) / heads);
}

function drawAttention(shown) {
  const { now, read } = shown;
  const { tokens, n } = read[now.shown];
  const shares = attentionOf(shown);
  const title = `How much each token (row) looks at each other (column) on the way to layer `
    + `${Math.max(1, now.layer)}`;
  place("attention-title").textContent = title;
  const canvas = place("attention");
  const width = canvas.clientWidth;
  const names = tokens.map((token) => (token.length > 12 ? token.slice(0, 11) + "…" : token));
  const longest = Math.max(...names.map((name) => name.length));
  const named = width - 100 >= 9 * n;                           // else there is no place for names
  const edge = named ? 14 + 7.4 * longest : 1;
  const size = Math.min(30, (width - edge) / n);
  const pen = pencil(canvas, width, edge + n * size + 2);
  const [text, colour, line] = ["--text", "--high", "--line"].map(styleOf);
  const highest = shares.reduce((best, share) => Math.max(best, share));
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      pen.fillStyle = `rgba(${colour}, ${Math.sqrt(shares[i * n + j] / highest)})`;
      pen.fillRect(edge + j * size, edge + i * size, size - 0.5, size - 0.5);
    }
  }
  pen.strokeStyle = line;
  pen.strokeRect(edge - 0.5, edge - 0.5, n * size + 0.5, n * size + 0.5);
  if (named) {
    pen.fillStyle = text;
    pen.font = `${Math.min(13, size)}px system-ui, sans-serif`;
    pen.textBaseline = "middle";
    names.forEach((name, t) => {
      const middle = edge + (t + 0.5) * size;
      pen.textAlign = "right";
      pen.fillText(name, edge - 5, middle);
      pen.save();
      pen.translate(middle, edge - 5);
      pen.rotate(-Math.PI / 2);
      pen.textAlign = "left";
      pen.fillText(name, 0, 0);
      pen.restore();
    });
  }
  const words = strongest(tokens, shares, n);
  place("looks").textContent = words;
  canvas.setAttribute("aria-label", `${title}. ${words}`);
  const look = (i, j) => `“${bare(tokens[i])}” looks at “${bare(tokens[j])}”: `
    + `${percent(shares[i * n + j])}.`;
  canvas.onmousemove = ({ offsetX, offsetY }) => {
    const [i, j] = [offsetY, offsetX].map((at) => Math.floor((at - edge) / size));
    const inside = i >= 0 && j >= 0 && i < n && j < n;
    place("looks").textContent = inside ? look(i, j) : words;
  };
  canvas.onmouseleave = () => { place("looks").textContent = words; };
}

// The three strongest looks between two different words.
function strongest(tokens, shares, n) {
  const found = [];
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++)
      if (i !== j && ![tokens[i], tokens[j]].some((token) => SPECIAL.includes(token)))
        found.push([shares[i * n + j], i, j]);
  const best = found.sort((a, b) => b[0] - a[0]).slice(0, 3);
  if (!best.length) return "No two words look at each other here.";
  return "Strongest between words: " + best.map(([share, i, j]) =>
    `“${bare(tokens[i])}” at “${bare(tokens[j])}” ${percent(share)}`).join(", ") + ".";
}

const styleOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A canvas of this size in CSS pixels, sharp on every screen.
function pencil(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  return pen;
}

// ------------------------------------------------------------------------------ 3: one vector

function drawStrips({ now, read, pooled, whitened, cosine: mine }) {
  const made = { mean: "The mean of all its tokens’ vectors", cls: "The vector of [CLS]",
                 max: "The largest number of all its tokens in each dimension" }[now.pooling];
  const changed = whitened === pooled ? ""
    : ` After it the course’s mean is taken away (β = ${now.beta}) and the directions are evened `
      + `out (γ = ${now.gamma}); dimension 1 is now the direction that varied most.`;
  place("pooled").textContent = `${made} at layer ${now.layer} stands for the sentence: ${dim} `
    + `numbers, of norm ${figure(norm(pooled[0]), 1)} and ${figure(norm(pooled[1]), 1)}.${changed}`;
  const [x, y] = whitened;
  const length = norm(x) * norm(y) || 1;
  const parts = x.map((value, i) => value * y[i] / length);
  const largest = parts.reduce((best, value, i) =>
    (Math.abs(value) > Math.abs(parts[best]) ? i : best), 0);
  const most = `Dimension ${largest + 1} adds most: ${figure(parts[largest])} of ${figure(mine)}.`;
  place("most").textContent = most;
  [x, y, parts].forEach((values, i) => drawStrip(place(`strip${i}`), values));
  ["First", "Second"].forEach((name, i) => place(`strip${i}`)
    .setAttribute("aria-label", `${name} sentence as ${whitened[i].length} coloured cells`));
  place("strip2").setAttribute("aria-label", `What each dimension adds to the cosine. ${most}`);
}

function drawStrip(canvas, values) {
  const pen = pencil(canvas, canvas.clientWidth, 30);
  const highest = values.reduce((best, value) => Math.max(best, Math.abs(value)), 0) || 1;
  const cell = canvas.clientWidth / values.length;
  const [low, high] = ["--low", "--high"].map(styleOf);
  values.forEach((value, i) => {
    pen.fillStyle = `rgba(${value < 0 ? low : high}, ${(Math.abs(value) / highest) ** 0.7})`;
    pen.fillRect(i * cell, 0, cell + 0.3, 30);
  });
}

// ------------------------------------------------------------------------------ 4: other pairs

// An SVG whose units are CSS pixels, emptied.
function sheet(id, height) {
  const svg = place(id);
  const width = svg.clientWidth;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return { svg, width, height };
}

function shape(name, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

const PLAIN = { pooling: "mean", layer: layers, beta: 0, gamma: 0 };
const GROUPS = [["same", (grade) => grade >= 4, "graded 4 to 5"],
                ["other", (grade) => grade <= 1, "graded 0 to 1"]];

function drawScale({ now, known, cosine: mine }) {
  const { svg, width, height } = sheet("scale", 216);
  svg.replaceChildren();
  place("agreement").textContent = place("groups").textContent = "";
  if (!known) return;
  const cosines = cosinesOfPairs(known, now);
  const lowest = Math.min(mine, ...cosines) < -0.5 ? -1 : -0.5;
  const at = (value) => 16 + (width - 32) * (value - lowest) / (1 - lowest);
  const bins = Math.round((1 - lowest) / 0.05);
  const groups = GROUPS.map(([kind, belongs, name]) => {
    const values = cosines.filter((_, i) => belongs(data.grades[i]));
    const counts = new Array(bins).fill(0);
    for (const value of values)
      counts[Math.min(bins - 1, Math.floor((value - lowest) / 0.05 + 1e-9))] += 1 / values.length;
    return { kind, name, counts, middle: median(values) };
  });
  const tallest = Math.max(...groups.flatMap(({ counts }) => counts));
  groups.forEach(({ kind, counts }, g) => {
    const base = g ? 100 : 96;
    counts.forEach((share, i) => {
      const tall = 66 * share / tallest;
      svg.append(shape("rect", { class: kind, x: at(lowest + i * 0.05) + 1, height: tall,
                                 y: g ? base : base - tall,
                                 width: Math.max(1, at(0.05) - at(0) - 2) }));
    });
  });
  place("groups").replaceChildren(...groups.map(({ kind, name, middle }, g) =>
    element("span", { className: kind, textContent: `${g ? "below" : "above"}: pairs ${name}, half `
      + `of them above ${figure(middle)}` })));
  svg.append(shape("path", { class: "axis", d: `M16 98 H${width - 16}` }));
  for (let tick = lowest; tick <= 1.001; tick += 0.5) {
    svg.append(shape("path", { class: "grid", d: `M${at(tick)} 172 v6` }),
               shape("text", { x: at(tick), y: 194, class: "soft",
                               "text-anchor": tick > 0.9 ? "end" : "middle" }, figure(tick, 1)));
  }
  svg.append(shape("text", { x: width / 2, y: 212, class: "soft", "text-anchor": "middle" },
                   "cosine"));
  const end = at(mine) > width - 90 ? "end" : at(mine) < 90 ? "start" : "middle";
  svg.append(shape("path", { class: "mark", d: `M${at(mine)} 22 V172` }),
             shape("text", { x: at(mine), y: 16, "text-anchor": end, class: "halo" },
                   `yours ${figure(mine)}`));
  const plain = (model) => figure(tensors[`${model}.mean.${layers}.spearman`].data[0], 3);
  const control = median(cosinesOfPairs(measured({ ...PLAIN, model: "untrained" }), PLAIN)
    .filter((_, i) => GROUPS[1][1](data.grades[i])));
  const words = groups.map(({ name, middle }) => `half of the pairs ${name} lie above `
    + figure(middle)).join(", ");
  svg.setAttribute("aria-label", `Two histograms of cosines: ${words}. Yours is ${figure(mine)}.`);
  place("agreement").textContent = "Agreement of all these cosines with the grades (Spearman "
    + `correlation): ${figure(known.spearman[step(now)], 3)} with your settings. The mean of the `
    + `last layer without β and γ: ${plain("trained")} trained, ${plain("untrained")} with weights `
    + "by chance, although its cosines look high: half of the pairs graded 0 to 1 lie above "
    + `${figure(control)} there. β and γ use the mean and the directions of these very sentences.`;
}

// ------------------------------------------------------------------------------ 5: the cloud

let drawn = "";                                                 // what the dots show now

function drawCloud({ now, known, pooled }) {
  const { svg, width, height } = sheet("cloud", 430);
  if (!known) {
    svg.replaceChildren();
    drawn = "";
    return;
  }
  const { whitening, cloud } = known;
  const { spectrum } = whitening.turn(now.beta);
  const n = data.sentences.length;
  const row = 2 * data.steps.indexOf(now.beta) * n;
  const scales = [0, 1].map((a) => spectrum[a] ** (-now.gamma / 2));
  const points = Array.from({ length: n }, (_, i) =>
    [cloud[row + i] * scales[0], cloud[row + n + i] * scales[1]]);
  const mine = pooled.map((x) => [...whitening.transform(x, now.beta, now.gamma).slice(0, 2)]);
  const ranges = [0, 1].map((a) => {
    const values = [...points, ...mine, [0, 0]].map((point) => point[a]);
    return [Math.min(...values), Math.max(...values)];
  });
  const unit = Math.min(...ranges.map(([low, high], a) =>
    ([width, height][a] - 50) / (high - low)));
  const x = (point) => width / 2 + unit * (point[0] - (ranges[0][0] + ranges[0][1]) / 2);
  const y = (point) => height / 2 - unit * (point[1] - (ranges[1][0] + ranges[1][1]) / 2);
  const picture = [now.model, now.pooling, now.layer, now.beta, now.gamma, width, unit, x([0, 0]),
                   y([0, 0])].join();
  if (drawn !== picture) {
    const dots = shape("g", { class: "dots" });
    points.forEach((point, i) => dots.append(
      shape("circle", { cx: x(point).toFixed(1), cy: y(point).toFixed(1), r: 3.2, "data-i": i })));
    const [left, top] = [x([0, 0]), y([0, 0])];
    svg.replaceChildren(
      shape("path", { class: "axis", d: `M${left - 9} ${top} h18 M${left} ${top - 9} v18` }),
      dots, shape("text", { x: left, y: top + 24, class: "soft halo", "text-anchor":
        left > width - 50 ? "end" : left < 50 ? "start" : "middle" }, "origin"),
      shape("g", { class: "pair-line" }), shape("g", { class: "yours" }));
    drawn = picture;
  }
  const yours = mine.flatMap((point, i) => {
    const kind = ["first", "second"][i];
    const other = mine[1 - i];
    const above = point[1] === other[1] ? i === 0 : point[1] > other[1];
    const end = x(point) > width - 70 ? "end" : x(point) < 70 ? "start" : "middle";
    return [shape("path", { class: `ray ${kind}`,
                            d: `M${x([0, 0])} ${y([0, 0])} L${x(point)} ${y(point)}` }),
            shape("circle", { class: `you ${kind}`, cx: x(point), cy: y(point), r: 8 }),
            shape("text", { class: `${kind} halo`, x: x(point), y: y(point) + (above ? -13 : 25),
                            "text-anchor": end }, kind)];
  });
  svg.querySelector(".yours").replaceChildren(...yours);
  const pair = Math.round(Number(place("pair").value)) - 1;
  if (data.pairs[pair]) showPair(pair);
  const distance = Math.hypot(mine[0][0] - mine[1][0], mine[0][1] - mine[1][1]);
  const across = Math.hypot(...ranges.map(([low, high]) => high - low));
  svg.setAttribute("aria-label", `${n} sentences as dots in a plane, and your two, which lie `
    + `${percent(distance / across)} of its width apart.`);
}

// Marks the two dots of a pair, and says what they are.
function showPair(k) {
  const svg = place("cloud");
  svg.querySelectorAll(".near").forEach((dot) => dot.classList.remove("near"));
  const dots = data.pairs[k].map((j) => svg.querySelector(`circle[data-i="${j}"]`));
  if (dots.includes(null)) return;                              // nothing is drawn
  dots.forEach((dot) => dot.classList.add("near"));
  const [a, b] = dots.map((dot) => [dot.getAttribute("cx"), dot.getAttribute("cy")]);
  svg.querySelector(".pair-line").replaceChildren(
    shape("path", { class: "link", d: `M${a.join(" ")} L${b.join(" ")}` }));
  place("dot").textContent = data.pairs[k].map((j) => `“${data.sentences[j]}”`).join(" and ")
    + `: graded ${data.grades[k]} of ${data.scale[1]}.`;
}

function pointAt({ target }) {
  const k = data.pairs.findIndex((pair) => pair.includes(Number(target.dataset.i ?? -1)));
  if (k < 0) return;
  place("pair").value = k + 1;
  showPair(k);
}

// ------------------------------------------------------------------------------ begin

function begin() {
  place("size").textContent = `${layers} layers, ${(data.weights / 1e6).toFixed(1)} million `
    + "weights of eight bits, no server";
  place("vocabulary").textContent = data.pieces.length.toLocaleString("en");
  place("pairs").textContent = data.pairs.length;
  place("pair").max = data.pairs.length;
  Object.assign(place("layer"), { max: layers, value: layers });
  const oneHead = (_, i) => element("option", { value: i, textContent: `head ${i + 1}` });
  place("head").append(
    element("option", { value: "mean", textContent: `all ${heads} heads, mean` }),
    ...Array.from({ length: heads }, oneHead));
  place("examples").append(...EXAMPLES.map(([name], i) =>
    element("option", { value: i, textContent: name })));
  place("examples").addEventListener("change", ({ target }) => {
    [place("text0").value, place("text1").value] = EXAMPLES[target.value].slice(1);
    later();
  });
  place("desk").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("input", later);
  place("cloud").addEventListener("pointermove", pointAt);
  window.addEventListener("resize", later);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
  update();
  document.documentElement.dataset.ready = Math.round(performance.now() - started);
}

let asked = false;
function later() {                                              // once for a burst of changes
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    update();
  });
}

begin();
