// LessonBERT without a library: text to tokens, tokens to vectors, vectors to one vector.
// It does what `lessons_lib.contextual` does in Python, in the same order and by the same names;
// a test compares the two. The weights come from Python as a safetensors file in base64.

// ------------------------------------------------------------------------------ numbers from text

const KINDS = { I8: Int8Array, I16: Int16Array, F32: Float32Array };

// The tensors of a safetensors file: eight bytes say how long the header is, the header (JSON) says
// of each tensor its type, its shape and where it lies, and then come the numbers.
function readTensors(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const start = 8 + Number(new DataView(bytes.buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, start)));
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: [from, to] }] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    tensors[name] = { shape, data: new KINDS[dtype](bytes.buffer.slice(start + from, start + to)) };
  }
  return tensors;
}

// A matrix of 8-bit (or 16-bit) integers as floats: row i is its integers times scale[i].
function dequantised(tensors, name) {
  const { shape: [rows, columns], data } = tensors[name];
  const scale = tensors[name + ".scale"].data;
  const matrix = new Float32Array(rows * columns);
  for (let i = 0; i < rows; i++)
    for (let j = i * columns; j < (i + 1) * columns; j++) matrix[j] = data[j] * scale[i];
  return matrix;
}

// ------------------------------------------------------------------------------ text to tokens

// WordPiece: clean, lower-case, strip accents, split at spaces and marks; then cut each word into
// the longest tokens that the vocabulary has. `characters` says of each character what it does,
// as ranges of code points: "dropped", "space" or "alone" (a mark, or a Chinese character).
class WordPiece {
  constructor(pieces, characters, longestWord = 100) {
    this.pieces = pieces;
    this.ids = new Map(pieces.map((piece, id) => [piece, id]));
    this.longestWord = longestWord;
    this.does = new Uint8Array(0x110000);                       // 0: part of a word
    ["dropped", "space", "alone"].forEach((what, i) => {
      for (const [first, last] of characters[what]) this.does.fill(i + 1, first, last + 1);
    });
  }

  words(text) {
    const words = [];
    let word = "";
    const finish = () => {
      if (word) words.push(word);
      word = "";
    };
    // NFD writes é as e and an accent, which is dropped
    for (const character of wellFormed(text).normalize("NFD")) {
      const does = this.does[character.codePointAt(0)];
      if (does === 1) continue;
      if (does >= 2) finish();
      if (does !== 2) word += character.toLowerCase();
      if (does === 3) finish();
    }
    finish();
    return words;
  }

  cut(word) {
    const letters = [...word];
    const tokens = [];
    if (letters.length > this.longestWord) return ["[UNK]"];
    for (let start = 0; start < letters.length;) {
      let end = letters.length;
      let piece;
      for (; end > start; end--) {
        piece = (start ? "##" : "") + letters.slice(start, end).join("");
        if (this.ids.has(piece)) break;
      }
      if (end === start) return ["[UNK]"];                      // one unknown letter is enough
      tokens.push(piece);
      start = end;
    }
    return tokens;
  }

  // The ids of a text with [CLS] before and [SEP] after it, and how many tokens were cut off.
  encode(text, longest) {
    const tokens = this.words(text).flatMap((word) => this.cut(word));
    const kept = ["[CLS]", ...tokens.slice(0, longest - 2), "[SEP]"];
    return { ids: kept.map((token) => this.ids.get(token)), tokens: kept,
             left: Math.max(0, tokens.length - (longest - 2)) };
  }
}

// Half a pair of surrogates is no character: it becomes U+FFFD, which is dropped.
function wellFormed(text) {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g,
                      "\uFFFD");
}

// ------------------------------------------------------------------------------ tokens to vectors

// out = x Wᵀ + b for n tokens. Two rows of W and four tokens at a time: each number that is loaded
// is used more than once. x has a multiple of four rows; what stands in the last ones is not read.
function linear(x, n, { weight, bias, rows, columns }) {
  const out = new Float64Array(fours(n) * rows);
  for (let t = 0; t < n; t += 4) {
    for (let row = 0; row < rows; row += 2) {
      eightProducts(x, t * columns, weight, row * columns, columns);
      for (let k = 0; k < 4; k++) {
        out[(t + k) * rows + row] = PRODUCTS[k] + bias[row];
        out[(t + k) * rows + row + 1] = PRODUCTS[k + 4] + bias[row + 1];
      }
    }
  }
  return out;
}

// The inner products of four rows of x with two rows of w: nearly all of the encoder's time.
function eightProducts(x, fromX, w, fromW, columns) {
  let a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
  for (let i = 0; i < columns; i++) {
    const u = w[fromW + i];
    const v = w[fromW + columns + i];
    const p = x[fromX + i];
    const q = x[fromX + columns + i];
    const r = x[fromX + 2 * columns + i];
    const s = x[fromX + 3 * columns + i];
    a0 += u * p;
    a1 += u * q;
    a2 += u * r;
    a3 += u * s;
    b0 += v * p;
    b1 += v * q;
    b2 += v * r;
    b3 += v * s;
  }
  PRODUCTS[0] = a0;
  PRODUCTS[1] = a1;
  PRODUCTS[2] = a2;
  PRODUCTS[3] = a3;
  PRODUCTS[4] = b0;
  PRODUCTS[5] = b1;
  PRODUCTS[6] = b2;
  PRODUCTS[7] = b3;
}

const PRODUCTS = new Float64Array(8);
const fours = (n) => 4 * Math.ceil(n / 4);

// Each token by itself to mean 0 and variance 1, then times `weight` plus `bias`.
function layerNorm(x, n, { weight, bias }) {
  const dim = weight.length;
  for (let at = 0; at < n * dim; at += dim) {
    let mean = 0;
    let variance = 0;
    for (let i = 0; i < dim; i++) mean += x[at + i] / dim;
    for (let i = 0; i < dim; i++) variance += (x[at + i] - mean) ** 2 / dim;
    const scale = 1 / Math.sqrt(variance + 1e-12);
    for (let i = 0; i < dim; i++) x[at + i] = (x[at + i] - mean) * scale * weight[i] + bias[i];
  }
  return x;
}

// GELU: x Φ(x), Φ the normal distribution function. Its erf by formula 7.1.26 of Abramowitz and
// Stegun, which errs by at most 1.5e-7.
function gelu(x) {
  const z = Math.abs(x) * Math.SQRT1_2;
  const t = 1 / (1 + 0.3275911 * z);
  const series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t
                  + 0.254829592) * t;
  const tail = series * Math.exp(-z * z) / 2;                   // 1 - Φ(|x|)
  return x * (x > 0 ? 1 - tail : tail);
}

// A BERT encoder; `sizes` as in config.json, `part(name)` gives the floats of a tensor.
class Bert {
  constructor(sizes, part) {
    this.sizes = sizes;
    const map = (name, rows, columns) => ({ weight: part(name + ".weight"),
                                            bias: part(name + ".bias"), rows, columns });
    const { dim, feedForward } = sizes;
    const embeddings = "embeddings.";
    this.words = part(embeddings + "word_embeddings.weight");
    this.positions = part(embeddings + "position_embeddings.weight");
    this.segments = part(embeddings + "token_type_embeddings.weight");
    this.firstNorm = map(embeddings + "LayerNorm");
    this.blocks = Array.from({ length: sizes.layers }, (_, i) => {
      const block = `encoder.layer.${i}.`;
      return { query: map(block + "attention.self.query", dim, dim),
               key: map(block + "attention.self.key", dim, dim),
               value: map(block + "attention.self.value", dim, dim),
               attentionOut: map(block + "attention.output.dense", dim, dim),
               attentionNorm: map(block + "attention.output.LayerNorm"),
               wide: map(block + "intermediate.dense", feedForward, dim),
               narrow: map(block + "output.dense", dim, feedForward),
               outNorm: map(block + "output.LayerNorm") };
    });
  }

  // All hidden states of one text (number 0 is the output of the embeddings) and, for each block
  // and head, how much each token looks at each other.
  read(ids) {
    const n = ids.length;
    const { dim } = this.sizes;
    let x = new Float64Array(fours(n) * dim);
    ids.forEach((id, t) => {
      for (let i = 0; i < dim; i++)
        x[t * dim + i] = this.words[id * dim + i] + this.positions[t * dim + i] + this.segments[i];
    });
    layerNorm(x, n, this.firstNorm);
    const states = [x];
    const attention = [];
    for (const block of this.blocks) {
      const { gathered, weights } = this.attend(x, n, block);
      const middle = layerNorm(add(linear(gathered, n, block.attentionOut), x), n,
                               block.attentionNorm);
      const wide = linear(middle, n, block.wide);
      for (let i = 0; i < n * this.sizes.feedForward; i++) wide[i] = gelu(wide[i]);
      x = layerNorm(add(linear(wide, n, block.narrow), middle), n, block.outNorm);
      states.push(x);
      attention.push(weights);
    }
    return { n, dim, states, attention };
  }

  // softmax(q kᵀ / √width) v in each head: what a token's query finds in all keys.
  attend(x, n, block) {
    const { dim, heads } = this.sizes;
    const width = dim / heads;
    const [q, k, v] = [block.query, block.key, block.value].map((part) => linear(x, n, part));
    const gathered = new Float64Array(fours(n) * dim);
    const weights = [];
    for (let head = 0; head < heads; head++) {
      const shares = new Float32Array(n * n);
      for (let i = 0; i < n; i++) {
        const scores = new Float64Array(n);
        const mine = i * dim + head * width;
        for (let j = 0; j < n; j++) {
          const other = j * dim + head * width;
          for (let c = 0; c < width; c++) scores[j] += q[mine + c] * k[other + c];
          scores[j] /= Math.sqrt(width);
        }
        const highest = Math.max(...scores);
        let total = 0;
        for (let j = 0; j < n; j++) total += scores[j] = Math.exp(scores[j] - highest);
        for (let j = 0; j < n; j++) {
          const share = shares[i * n + j] = scores[j] / total;
          const other = j * dim + head * width;
          for (let c = 0; c < width; c++) gathered[mine + c] += share * v[other + c];
        }
      }
      weights.push(shares);
    }
    return { gathered, weights };
  }
}

function add(x, y) {
  for (let i = 0; i < x.length; i++) x[i] += y[i];
  return x;
}

// The trained model of a file of tensors: matrices are 8-bit, all else is float.
function trainedBert(sizes, tensors) {
  return new Bert(sizes, (name) => (name + ".scale" in tensors ? dequantised(tensors, name)
                                                               : tensors[name].data));
}

// The control: the same shape, weights drawn by chance as before a training (standard deviation
// 0.02). A weight is the sum of four bytes of a hash of its number, which is nearly normal; so
// Python draws the same ones. Biases are 0 and LayerNorms 1.
function untrainedBert(sizes, matrices) {
  const drawn = {};
  let number = 0;
  for (const [name, rows, columns] of matrices) {
    const weights = drawn[name] = new Float32Array(rows * columns);
    for (let i = 0; i < weights.length; i++) {
      let hash = number++;
      hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
      hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
      hash ^= hash >>> 16;
      const sum = (hash & 255) + (hash >>> 8 & 255) + (hash >>> 16 & 255) + (hash >>> 24);
      weights[i] = (sum - 510) * UNTRAINED_STEP;
    }
  }
  const widest = Math.max(sizes.dim, sizes.feedForward);
  const [zeros, ones] = [new Float32Array(widest), new Float32Array(sizes.dim).fill(1)];
  return new Bert(sizes, (name) => drawn[name] ?? (name.endsWith("bias") ? zeros : ones));
}

const UNTRAINED_STEP = 0.02 / Math.sqrt((256 ** 2 - 1) / 3);    // four bytes: variance (256² - 1)/3

// ------------------------------------------------------------------------------ to one vector

// One vector for a text from a hidden state: the mean or the largest over all tokens, or the
// first token, [CLS].
function pool(state, n, dim, how) {
  const vector = new Float64Array(dim).fill(how === "max" ? -Infinity : 0);
  for (let t = 0; t < (how === "cls" ? 1 : n); t++) {
    for (let i = 0; i < dim; i++) {
      const value = state[t * dim + i];
      vector[i] = how === "max" ? Math.max(vector[i], value) : vector[i] + value;
    }
  }
  if (how === "mean") for (let i = 0; i < dim; i++) vector[i] /= n;
  return vector;
}

function norm(x, from = 0, to = x.length) {
  let squares = 0;
  for (let i = from; i < to; i++) squares += x[i] * x[i];
  return Math.sqrt(squares);
}

// The cosine of the angle between two vectors; 0 where one of them is 0.
function cosine(x, y) {
  const length = norm(x) * norm(y);
  return length ? x.reduce((sum, value, i) => sum + value * y[i], 0) / length : 0;
}

// ------------------------------------------------------------------------------ whitening

// z = (x - β μ) U Λ^(-γ/2), with the axes U and variances Λ of the course's sentences about β μ.
// They are known about μ, as `axes` (a row each), `spectrum` and `mean`. About β μ the covariance
// is Σ + c (1 - β)² μ μᵀ, c = n / (n - 1): in the known axes a diagonal matrix plus one product of
// a vector with itself, whose own axes are found one by one.
class Whitening {
  constructor({ mean, axes, spectrum, least, n }) {
    Object.assign(this, { mean, axes, spectrum, least, n, k: spectrum.length, dim: mean.length });
    this.meanOnAxes = this.onAxes(mean);
    this.turns = new Map();                                     // by β, made when first asked for
  }

  onAxes(x) {
    const out = new Float64Array(this.k);
    for (let a = 0; a < this.k; a++)
      for (let i = 0; i < this.dim; i++) out[a] += this.axes[a * this.dim + i] * x[i];
    return out;
  }

  turn(beta) {
    if (!this.turns.has(beta)) {
      const factor = (1 - beta) * Math.sqrt(this.n / (this.n - 1));
      this.turns.set(beta, turned(this.spectrum, this.meanOnAxes.map((value) => factor * value)));
    }
    return this.turns.get(beta);
  }

  transform(x, beta, gamma) {
    const { spectrum, axes } = this.turn(beta);
    const centred = this.onAxes(x).map((value, a) => value - beta * this.meanOnAxes[a]);
    const z = [];
    for (let a = 0; a < this.k; a++) {
      if (spectrum[a] <= this.least) continue;                  // dividing would enlarge rounding
      let sum = 0;
      for (let i = 0; i < this.k; i++) sum += axes[a * this.k + i] * centred[i];
      z.push(sum * spectrum[a] ** (-gamma / 2));
    }
    return Float64Array.from(z);
  }
}

// Variances and axes of diag(d) + zᵀ z, d falling. Its variances λ solve 1 = Σ z_i² / (λ - d_i);
// exactly one lies above each d_i and below the next higher d, where halving the interval finds
// it. The axis of λ is z_i / (λ - d_i), scaled to norm 1.
function turned(d, z) {
  const k = d.length;
  const spectrum = new Float64Array(k);
  const axes = new Float64Array(k * k);
  const squares = z.map((value) => value * value);
  const total = squares.reduce((sum, value) => sum + value, 0);
  if (total < 1e-12 * d[0]) {                                   // β = 1: nothing turns
    for (let a = 0; a < k; a++) axes[a * k + a] = 1;
    return { spectrum: Float64Array.from(d), axes };
  }
  for (let a = 0; a < k; a++) {
    // measured from d_a, because λ may lie closer to it than λ itself can say
    let low = 0;
    let high = a ? d[a - 1] - d[a] : total;
    for (let step = 0; step < 100; step++) {
      const middle = (low + high) / 2;
      let sum = 0;
      for (let i = 0; i < k; i++) sum += squares[i] / (d[a] - d[i] + middle);
      if (sum > 1) low = middle; else high = middle;
    }
    const above = (low + high) / 2;
    spectrum[a] = d[a] + above;
    const axis = axes.subarray(a * k, (a + 1) * k);
    for (let i = 0; i < k; i++) axis[i] = z[i] / (d[a] - d[i] + above);
    const largest = axis.reduce((best, value) => (Math.abs(value) > Math.abs(best) ? value : best));
    const length = Math.sign(largest) * norm(axis);             // its sign is free: fix it
    for (let i = 0; i < k; i++) axis[i] /= length;
  }
  return { spectrum, axes };
}
