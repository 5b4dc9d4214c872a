// Learning curves: the seeds of each choice brought to one line with a band, two charts, one
// legend.

// The value of a run at x, on the straight line between its neighbours; null outside its range.
function value_at(points, x) {
  if (!points.length || x < points[0][0] || x > points.at(-1)[0]) return null;
  let low = 0, high = points.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (points[middle][0] <= x)
      low = middle;
    else
      high = middle;
  }
  const [x0, y0] = points[low], [x1, y1] = points[high];
  return x1 === x0 ? y1 : y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

// [{x, mean, low, high}] of one choice. Seeds are seldom measured at the same second, so by time
// they are read off at common places; by step their own places are common already.
function merged_runs(runs, x_key, y_key) {
  const lines =
      list(runs)
          .map(
              (run) =>
                  list(run.curve)
                      .map((point) => [number_or_null(point[x_key]), number_or_null(point[y_key])])
                      .filter(([x, y]) => x !== null && y !== null)
                      .sort((a, b) => a[0] - b[0]))
          .filter((line) => line.length);
  if (!lines.length) return [];
  let places = [...new Set(lines.flatMap((line) => line.map(([x]) => x)))].sort((a, b) => a - b);
  if (lines.length > 1 && x_key === 'seconds') {
    const first = Math.max(...lines.map((line) => line[0][0]));
    const last = Math.min(...lines.map((line) => line.at(-1)[0]));
    const count = Math.min(120, Math.max(...lines.map((line) => line.length)));
    if (last > first && count > 1) {
      places = Array.from({length: count}, (_, i) => first + (last - first) * i / (count - 1));
    }
  }
  return places
      .map((x) => {
        const values = lines.map((line) => value_at(line, x)).filter((v) => v !== null);
        return values.length ? {
          x,
          mean: values.reduce((a, b) => a + b, 0) / values.length,
          low: Math.min(...values),
          high: Math.max(...values)
        } :
                               null;
      })
      .filter(Boolean);
}

function curves_section(comparison) {
  const {choices, metric, formats} = comparison;
  const has = (key) => choices.some(
      (c) => list(c.runs).some(
          (run) => list(run.curve).some((point) => number_or_null(point[key]) !== null)));
  const kinds = [
    ['metric', capital(metric_title(metric.name)), formats[metric.name].text],
    ['loss', 'Loss', (v) => significant(v, 3)]
  ].filter(([key]) => has(key));
  const axes = [['seconds', 'By time'], ['step', 'By step']].filter(([key]) => has(key));
  if (!kinds.length || !axes.length) return null;

  // Perplexity and its like fall from thousands, as losses do.
  const unbounded = !metric.higher_is_better && !formats[metric.name].is_share;
  let axis = axes[0][0];
  const hidden = new Set();
  const charts = kinds.map(
      ([key, title, text]) => ({key, chart: line_chart(title, text, key === 'loss' || unbounded)}));
  const redraw = () => {
    for (const {key, chart} of charts) {
      chart.show(
          choices.filter((c) => !hidden.has(c.index))
              .map((c) => ({
                     name: c.name,
                     colour: c.colour,
                     dashed: c.dashed,
                     points: merged_runs(c.runs, axis, key)
                   }))
              .filter((series) => series.points.length),
          axis);
    }
  };
  const legend =
      el('div', {class: 'legend', role: 'group', 'aria-label': 'Choices shown'},
         ...choices.map((choice) => {
           const button =
               el('button', {
                 type: 'button',
                 'aria-pressed': 'true',
                 style: `--mine:${choice.colour}`,
                 onclick: () => {
                   if (!hidden.delete(choice.index)) hidden.add(choice.index);
                   button.setAttribute('aria-pressed', String(!hidden.has(choice.index)));
                   redraw();
                 }
               },
                  dot(choice), choice.name);
           return button;
         }));
  redraw();
  const several = comparison.seeds.length > 1;
  return el(
      'section', {id: 'curves'}, el('h2', {}, 'How they learned'),
      several ? el('p', {class: 'hint'},
                   'Each line is the mean over seeds; its band spans all of them.') :
                null,
      el('div', {class: 'controls'},
         axes.length > 1 ? segments(
                               'Horizontal axis', axes, axis,
                               (key) => {
                                 axis = key;
                                 redraw();
                               }) :
                           null),
      choices.length > 1 ? legend : null,
      el('div', {class: 'charts'}, ...charts.map(({chart}) => chart.element)));
}
