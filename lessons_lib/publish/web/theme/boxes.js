// Answers a reader's own text in the page, as the lesson's method does: shared words, neighbours of a word, SIF, BM25.
// A method's table is a script beside this one, loaded once the reader turns to a box. See boxes.py.
const boxTables = {};

/** Runs of letters and digits, in small letters, as lessons_lib.text.tokenize has them. */
const wordsOf = (text) => text.normalize("NFC").toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const dot = (a, b) => { let total = 0; for (let i = 0; i < a.length; i++) total += a[i] * b[i]; return total; };
const cosine = (a, b) => dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1);
const known = (table, words) => words.filter((word) => table.number.has(word));

/** A table with its vectors as numbers, and the row of each word. */
const opened = (table) => {
  if (table.number) return table;
  const bytes = Int8Array.from(atob(table.numbers), (letter) => letter.charCodeAt(0));
  const dim = bytes.length / table.words.length;
  table.rows = table.words.map((_, i) => Float64Array.from(bytes.subarray(i * dim, (i + 1) * dim), (whole) => whole * table.scale[i]));
  table.unit = table.rows.map((row) => { const norm = Math.sqrt(dot(row, row)) || 1; return row.map((x) => x / norm); });
  table.number = new Map(table.words.map((word, i) => [word, i]));
  return table;
};

/** The words with the highest cosine to a vector, as [word, cosine]. */
const nearest = (table, vector, barred, k = 5) => {
  const norm = Math.sqrt(dot(vector, vector)) || 1;
  return table.unit.map((row, i) => [table.words[i], dot(row, vector) / norm])
    .filter(([word]) => !barred.includes(word)).sort((a, b) => b[1] - a[1]).slice(0, k);
};

/** b/|b| - a/|a| + c/|c| */
const analogyVector = (table, [a, b, c]) => {
  const [one, two, three] = [a, b, c].map((word) => table.unit[table.number.get(word)]);
  return one.map((x, i) => two[i] - x + three[i]);
};

/** The weighted mean of a text's words, without the direction that all sentences share. */
const sifVector = (table, text) => {
  const rows = known(table, wordsOf(text)).map((word) => table.number.get(word));
  const mean = table.shared.map((_, i) => sum(rows.map((row) => table.weights[row] * table.rows[row][i])) / (rows.length || 1));
  const along = dot(mean, table.shared);
  return mean.map((x, i) => x - along * table.shared[i]);
};

/** Each text's score: the sum of idf tf (k1 + 1) / (tf + k1 (1 - b + b |d| / mean |d|)) over the words of a question. */
const bm25Scores = (table, question) => {
  table.counts ??= table.texts.map((text) => {
    const counts = new Map();
    for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
    return counts;
  });
  table.lengths ??= table.counts.map((counts) => sum([...counts.values()]));
  table.mean ??= sum(table.lengths) / table.lengths.length;
  const scores = new Float64Array(table.texts.length);
  for (const word of wordsOf(question)) {
    const holding = table.counts.filter((counts) => counts.has(word)).length;
    const idf = Math.log1p((table.texts.length - holding + 0.5) / (holding + 0.5));
    table.counts.forEach((counts, i) => {
      const tf = counts.get(word) ?? 0;
      scores[i] += idf * tf * (table.k1 + 1) / (tf + table.k1 * (1 - table.b + table.b * table.lengths[i] / table.mean));
    });
  }
  return scores;
};

const unknown = (table, words) => {
  const missing = [...new Set(words.filter((word) => !table.number.has(word)))];
  return missing.length ? ` Not among the ${table.words.length.toLocaleString("en")} words of this page: ${missing.join(", ")}.` : "";
};
const two = (number) => number.toFixed(2).replace("-", "−");

// Each method: a sentence, and a table with its head.
const METHODS = {
  overlap: (_, ...texts) => {
    const [first, second] = texts.map((text) => new Set(wordsOf(text)));
    const shared = [...first].filter((word) => second.has(word));
    return {said: first.size && second.size
      ? `Shared words: ${shared.length}${shared.length ? ` (${shared.join(", ")})` : ""}. Cosine: ${two(shared.length / Math.sqrt(first.size * second.size))}`
      : "Type a word into both boxes."};
  },
  neighbours: (table, typed, analogy) => {
    opened(table);
    const [[word], asked] = [wordsOf(typed), wordsOf(analogy)];
    const missing = unknown(table, [...(word ? [word] : []), ...asked]);
    if (!word || asked.length !== 3 || missing) return {said: missing || "Type one word, and three for the analogy: a b c."};
    const [near, vector] = [nearest(table, table.unit[table.number.get(word)], [word]), analogyVector(table, asked)];
    const [barred, free] = [nearest(table, vector, asked), nearest(table, vector, [])];
    return {said: `Among ${table.words.length.toLocaleString("en")} words; the lesson has 50,000:`,
      head: [`near ${word}`, "cosine", `${asked[0]} : ${asked[1]} = ${asked[2]} : ?`, "any word allowed"],
      rows: near.map(([name, value], i) => [name, two(value), barred[i][0], free[i][0]])};
  },
  sif: (table, ...texts) => {
    opened(table);
    const words = [...new Set(texts.flatMap(wordsOf))];
    const missing = unknown(table, words);
    if (texts.some((text) => !known(table, wordsOf(text)).length)) return {said: `Each box needs a known word.${missing}`};
    return {said: `SIF: cosine ${two(cosine(...texts.map((text) => sifVector(table, text))))}, without what ${table.sentences.toLocaleString("en")} sentences of Wikipedia share; the lesson takes 10,000.${missing}`,
      head: ["word", "weight"], rows: known(table, words).map((word) => [word, two(table.weights[table.number.get(word)])])};
  },
  bm25: (table, question) => {
    const scores = bm25Scores(table, question), asked = new Set(wordsOf(question));
    const best = [...scores.keys()].filter((i) => scores[i] > 0).sort((a, b) => scores[b] - scores[a] || a - b).slice(0, 3);
    if (!best.length) return {said: "No passage has a word of this question. Try another."};
    return {said: `The best of ${table.texts.length.toLocaleString("en")} passages; the lesson has three times as many:`, head: ["score", "equal words", "passage"],
      rows: best.map((i) => [two(scores[i]), [...table.counts[i].keys()].filter((word) => asked.has(word)).join(", "), table.texts[i]])};
  },
};

if (typeof document !== "undefined") (() => {
  const here = document.currentScript.src.replace(/[^/]*$/, "");
  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const loaded = {overlap: Promise.resolve()};
  const load = (method) => loaded[method] ??= new Promise((done, failed) => {
    document.head.append(element("script", {src: `${here}box-${method}.js`, onload: done, onerror: failed}));
  });
  const row = (kind, cells) => element("tr", {}, ...cells.map((cell) => element(kind, {}, cell)));
  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("form.try-it").forEach((form) => {
    const {method} = form.dataset, answer = form.querySelector(".answer");
    let waiting;
    const show = async () => {
      if (!boxTables[method]) answer.textContent = "One moment …";
      await load(method);
      const {said, head, rows} = METHODS[method](boxTables[method], ...[...form.querySelectorAll("input")].map((box) => box.value));
      answer.replaceChildren(element("p", {}, said), ...(rows ? [element("div", {className: "pst-scrollable-table-container"}, element("table",
        {className: "table"}, element("thead", {}, row("th", head)), element("tbody", {}, ...rows.map((cells) => row("td", cells)))))] : []));
    };
    form.addEventListener("focusin", show, {once: true});
    form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(show, 150); });
    form.addEventListener("submit", (sent) => { sent.preventDefault(); show(); });
  }));
})();
