// What the tests ask of a notebook that is open in JupyterLab. `mark` is a piece of the source of the cell that is meant.
window.notebook = {
  panel: () => window.jupyterapp?.shell?.currentWidget,
  ready: () => notebook.panel()?.sessionContext?.session?.kernel?.status === "idle",
  find: (mark) => notebook.panel().content.widgets.find((cell) => cell.model.sharedModel.source.includes(mark)),
  cells: () => notebook.panel().content.widgets.filter((cell) => cell.model.type === "code").map((cell) => ({
    count: cell.model.executionCount, source: cell.model.sharedModel.source, outputs: cell.model.outputs.toJSON(),
  })),
  clear: () => jupyterapp.commands.execute("notebook:clear-all-cell-outputs"),
  // Told to run and asked later: a promise that is waited for from outside was seen to hang.
  run: () => {
    notebook.ran = null;
    jupyterapp.commands.execute("notebook:run-all-cells").then(() => { notebook.ran = "done"; }, (error) => { notebook.ran = String(error); });
  },
  save: () => {
    notebook.saved = null;
    jupyterapp.commands.execute("docmanager:save").then(() => { notebook.saved = true; }, (error) => { notebook.saved = String(error); });
  },
  scroll: async (mark) => {
    await notebook.panel().content.scrollToCell(notebook.find(mark));
    notebook.find(mark).node.querySelector(".jp-OutputArea-output img, .js-plotly-plot")?.scrollIntoView({block: "center"});
  },
  // The picture of a cell as a text: what an image shows, or what plotly has drawn.
  picture: (mark) => {
    const output = notebook.find(mark).node.querySelector(".jp-OutputArea"), drawn = output?.querySelector(".js-plotly-plot");
    return drawn ? drawn.data && JSON.stringify([drawn.data, drawn.layout.title]) : output?.querySelector("img")?.src;
  },
  // The cell is chosen as by the arrow keys: in command mode, where Tab goes on to what it has put out.
  choose: (mark) => {
    const {content} = notebook.panel();
    content.activeCellIndex = content.widgets.indexOf(notebook.find(mark));
    content.mode = "command";
    content.activeCell.node.focus();
  },
  focused: (mark, controls) => {
    const active = document.activeElement;
    return active.matches(controls) && notebook.find(mark).node.contains(active) ? active.className || active.tagName : null;
  },
  // Code and outputs that are wider than their place, as "code cell 3: 840 of 700 pixels". What is not in view is not laid out.
  sideways: async () => {
    const found = [], {content} = notebook.panel();
    for (const [place, cell] of content.widgets.filter((cell) => cell.model.type === "code").entries()) {
      await content.scrollToCell(cell);
      for (const part of cell.node.querySelectorAll(".jp-InputArea .cm-scroller, .jp-OutputArea-output"))
        if (part.scrollWidth > part.clientWidth + 1)
          found.push(`code cell ${place + 1}: ${part.scrollWidth} of ${part.clientWidth} pixels, ${part.className.split(" ")[0]}`);
    }
    return found;
  },
  changed: ([mark, before]) => { const now = notebook.picture(mark); return Boolean(now) && now !== before; },
};
