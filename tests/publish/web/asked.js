// Asks scripts of the site without a browser: node asked.js SCRIPT… QUESTION, which says on its
// output, as JSON, what the expression QUESTION gives once the scripts were read.

const { readFileSync } = require("fs");
const vm = require("vm");

const [question, ...scripts] = process.argv.slice(2).reverse();
scripts.reverse().forEach((path) => vm.runInThisContext(readFileSync(path, "utf8")));
console.log(JSON.stringify(vm.runInThisContext(question)));
