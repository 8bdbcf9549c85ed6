// Runs the encoder of a page without a browser: node sentence.js PAGE ENCODER QUESTIONS, which says
// on its output, as JSON, what the page's JavaScript makes of texts.

const { readFileSync } = require("fs");
const vm = require("vm");

const [page, encoder, questions] = process.argv.slice(2).map((path) => readFileSync(path, "utf8"));
vm.runInThisContext(encoder);
const inside = (id) => page.split(`id="${id}">`)[1].split("</script>")[0];
const data = JSON.parse(inside("data"));
const tensors = vm.runInThisContext("readTensors")(inside("tensors"));
const [WordPiece, Whitening, trained, untrained, dequantised, pool, cosine] = [
  "WordPiece", "Whitening", "trainedBert", "untrainedBert", "dequantised", "pool", "cosine",
].map((name) => vm.runInThisContext(name));
const wordPiece = new WordPiece(data.pieces, data.characters);
const asked = JSON.parse(questions);
const ids = asked.tokens.map((text) => wordPiece.encode(text, asked.longest).ids);
const models = asked.vectors.length ? { trained: trained(data.sizes, tensors),
                                        untrained: untrained(data.sizes, data.matrices) } : {};
const vectors = {};
const whitened = {};
const attention = {};
for (const [name, model] of Object.entries(models)) {
  const read = asked.vectors.map((text) =>
    model.read(wordPiece.encode(text, data.sizes.positions).ids));
  attention[name] = read.map((one) => one.attention.map((heads) => heads.map((h) => [...h])));
  for (const how of data.poolings) {
    for (let layer = 0; layer <= data.sizes.layers; layer++) {
      const key = `${name}.${how}.${layer}`;
      const pooled = read.map(({ states, n, dim }) => pool(states[layer], n, dim, how));
      vectors[key] = pooled.map((x) => [...x]);
      if (!(key + ".mean" in tensors)) continue;
      const whitening = new Whitening({ mean: tensors[key + ".mean"].data,
                                        spectrum: tensors[key + ".spectrum"].data,
                                        axes: dequantised(tensors, key + ".axes"),
                                        least: tensors[key + ".least"].data[0],
                                        n: data.sentences.length });
      for (const beta of data.steps) {
        for (const gamma of data.steps) {
          const z = pooled.map((x) => whitening.transform(x, beta, gamma));
          whitened[`${key}.${beta}.${gamma}`] = {
            plane: z.map((x) => [...x.slice(0, 2)]),
            cosines: z.slice(1).map((x) => cosine(z[0], x)) };
        }
      }
    }
  }
}
console.log(JSON.stringify({ ids, vectors, whitened, attention }));
