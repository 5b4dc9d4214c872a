// How a metric holds where problems are longer than those that were learned: a line for each
// choice, through what is called NAME@LENGTH.

function lengths_section(comparison) {
  const {choices, metrics, formats} = comparison;
  if (comparison.task !== 'algorithm') return null;  // elsewhere what follows the @ is no length
  const kinds = new Map();
  for (const name of metrics) {
    const [kind, length] = name.split('@');
    if (length === undefined || !Number.isFinite(Number(length))) continue;
    if (!kinds.has(kind)) kinds.set(kind, []);
    kinds.get(kind).push({x: Number(length), name});
  }
  const charts = [];
  for (const [kind, places] of kinds) {
    if (places.length < 2) continue;
    places.sort((a, b) => a.x - b.x);
    const series =
        choices
            .map((choice) => ({
                   name: choice.name,
                   colour: choice.colour,
                   dashed: choice.dashed,
                   points: places
                               .map(({x, name}) => {
                                 const {mean, values} = measured(choice, name);
                                 const all = [mean, ...values].filter((v) => v !== null);
                                 return mean === null ?
                                     null :
                                     {x, mean, low: Math.min(...all), high: Math.max(...all)};
                               })
                               .filter(Boolean)
                 }))
            .filter(({points}) => points.length);
    if (!series.length) continue;
    const chart = line_chart(capital(metric_title(kind)), formats[places[0].name].text, false);
    chart.show(series, 'length');
    charts.push(chart.element);
  }
  if (!charts.length) return null;
  return el(
      'section', {id: 'lengths'}, el('h2', {}, 'How far it reaches'),
      el('p', {class: 'hint'},
         'On problems of each length that was measured, also longer ones than were learned.'),
      choices.length > 1 ?
          el('div', {class: 'legend'},
             ...choices.map((c) => el('span', {style: `--mine:${c.colour}`}, dot(c), c.name))) :
          null,
      el('div', {class: 'charts'}, ...charts));
}
