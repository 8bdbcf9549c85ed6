// Searches the sections of all pages, in any language: a word is found wherever its letters stand in this order, and Chinese needs no spaces.
// Each place is shown with the text around it. The index is a script, too, because a page opened as a file may load no data.

// One letter for each, so that places in the folded text are places in the text: Ｅ, É and e are the same.
const folded = (text) => text.replace(/[^\0-\x7f]/g, (letter) => letter.normalize("NFKD")[0]).toLowerCase();
const LONG = 160;                                // letters around a hit
const MOST = 50;                                 // places shown

/** The words of a query; a run of Chinese that stands nowhere as a whole is asked for in pairs of letters. */
const termsOf = (query, knows) => [...new Set((folded(query.normalize("NFC")).match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]+|[^\s\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]+/gu) ?? [])
  .flatMap((term) => term.charCodeAt(0) < 0x3000 || term.length < 3 || knows(term) ? [term]
    : [...Array(term.length - 1).keys()].map((i) => term.slice(i, i + 2))))];

const startsWord = (text, place) => place === 0 || !/[\p{L}\p{N}]/u.test(text[place - 1]);

/** Where a term stands in a text, at most five times. */
const placesOf = (text, term) => {
  const places = [];
  for (let at = text.indexOf(term); at >= 0 && places.length < 5; at = text.indexOf(term, at + term.length)) places.push(at);
  return places;
};

/** The sections of an index that hold most terms, the best first, as [page, title, anchor, heading, text]. */
const search = (index, query) => {
  const sections = index.sections ??= index.flatMap(([page, title, parts]) =>
    parts.map(([anchor, heading, text]) => [page, title, anchor, heading || anchor.replace("lessons_lib.", ""), text]));
  const small = index.small ??= sections.map(([, title, , heading, text]) => [folded(`${title} ${heading}`), folded(text)]);
  const terms = termsOf(query, (term) => small.some((parts) => parts.some((part) => part.includes(term))));
  const found = [];
  small.forEach(([heading, text], number) => {
    let [holds, score] = [0, 0];
    for (const term of terms) {
      const [above, below] = [placesOf(heading, term), placesOf(text, term)];
      holds += above.length + below.length > 0;
      score += 8 * above.filter((at) => startsWord(heading, at)).length + 2 * above.length
        + 2 * below.filter((at) => startsWord(text, at)).length + below.length;
    }
    if (holds) found.push({number, holds, score});
  });
  const most = Math.max(...found.map(({holds}) => holds));
  return {terms, places: found.filter(({holds}) => holds === most)
    .sort((a, b) => b.score - a.score || a.number - b.number).map(({number}) => sections[number])};
};

/** The part of a text with most terms, as [words, whether they are a hit]. */
const excerpt = (text, terms) => {
  const small = folded(text), hits = terms.flatMap((term) => placesOf(small, term).map((at) => [at, at + term.length])).sort((a, b) => a[0] - b[0]);
  const counts = hits.map(([at]) => hits.filter(([other]) => other >= at && other < at + LONG).length);
  const first = Math.max(0, (hits[counts.indexOf(Math.max(...counts))]?.[0] ?? 0) - LONG / 4);
  const from = first && text.indexOf(" ", first) > 0 && text.indexOf(" ", first) < first + 20 ? text.indexOf(" ", first) + 1 : first;
  const until = Math.min(text.length, from + LONG), parts = [[from ? "… " : "", false]];
  let at = from;
  for (const [start, end] of hits.filter(([start, end]) => start >= from && end <= until)) {
    if (start < at) continue;
    parts.push([text.slice(at, start), false], [text.slice(start, end), true]);
    at = end;
  }
  return [...parts, [text.slice(at, until) + (until < text.length ? " …" : ""), false]].filter(([words]) => words);
};

if (typeof document !== "undefined") document.addEventListener("DOMContentLoaded", () => {
  const [field, said, list] = ["main form input[type=search]", "#found", "#places"].map((mark) => document.querySelector(mark));
  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const show = () => {
    const query = field.value.trim();
    history.replaceState(null, "", query ? `?q=${encodeURIComponent(query)}` : location.pathname);
    const {terms, places} = query ? search(courseIndex, query) : {terms: [], places: []};
    said.textContent = !query ? "" : places.length > MOST ? `${places.length} places; the best ${MOST}:`
      : `${places.length || "No"} place${places.length === 1 ? "" : "s"}`;
    list.replaceChildren(...places.slice(0, MOST).map(([page, title, anchor, heading, text]) => element("li", {},
      element("a", {href: `${page}?highlight=${encodeURIComponent(terms.join(" "))}${anchor && `#${anchor}`}`}, heading.startsWith(title) ? heading : `${title}: ${heading}`),
      element("p", {}, ...excerpt(text, terms).map(([words, hit]) => hit ? element("mark", {}, words) : words)))));
  };
  field.value = new URLSearchParams(location.search).get("q") ?? "";
  field.addEventListener("input", show);
  field.form.addEventListener("submit", (sent) => { sent.preventDefault(); show(); list.querySelector("a")?.focus(); });
  field.focus();
  show();
});
