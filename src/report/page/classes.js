// Which classes a model takes for which: a matrix for each choice, the mistakes it is surest of.

function class_matrix({classes, confusion}) {
  const most = 20;  // more classes than that are no picture
  const shown = classes.slice(0, most);
  const largest = Math.max(1, ...shown.flatMap((_, i) => shown.map((_, j) => confusion[i][j])));
  const stops = heat_stops();
  const cell = (count, i, j) => {
    const t = count / largest;
    return el('td', {
      class: 'count',
      title: `${classes[i].label} answered as ${classes[j].label}: ${count}`,
      style: `background:rgb(${heat_colour(stops, t)});color:var(--heat-ink-${
          t > 0.5 ? 'high' : 'low'})`
    },
              count ? String(count) : '');
  };
  const part = (x) => (typeof x === 'number' ? x.toFixed(3) : '–');
  return el(
      'div', {class: 'table-frame'},
      el('table', {class: 'classes'},
         el('thead', {},
            el('tr', {}, el('th', {}, 'truth \\ answer'),
               ...shown.map(({label}) => el('th', {}, el('bdi', {}, label))),
               ...['precision', 'recall', 'F1', 'examples'].map((name) => el('th', {}, name)))),
         el('tbody', {},
            ...shown.map((row, i) => el('tr', {}, el('th', {scope: 'row'}, el('bdi', {}, row.label)),
                                        ...shown.map((_, j) => cell(confusion[i][j], i, j)),
                                        ...[part(row.precision), part(row.recall), part(row.f1),
                                            String(row.examples)]
                                            .map((text) => el('td', {}, text)))))));
}

function classes_section({choices}) {
  const known = choices.filter(({by_class}) => list(by_class?.classes).length);
  if (!known.length) return null;
  const place = el('div');
  let chosen = (known.find(({best}) => best) ?? known[0]).index;
  const draw = () => {
    const {by_class} = choices[chosen];
    const mistakes = list(by_class.mistakes);
    place.replaceChildren(
        class_matrix(by_class),
        mistakes.length ? el('h3', {}, 'Surest mistakes') : '',
        el('ul', {class: 'mistakes'},
           ...mistakes.map(({answer, truth, probability, text}) =>
                               el('li', {}, `${Number(probability).toFixed(2)} `,
                                  el('b', {}, el('bdi', {}, answer)), ' for ',
                                  el('b', {}, el('bdi', {}, truth)), ': ', el('bdi', {}, text)))));
  };
  const names = known.map(({index, name}) => [index, name]);
  draw();
  return el('section', {id: 'classes'}, el('h2', {}, 'Which classes are mixed up'),
            known.length > 1 ? segments('Choice', names, chosen, (index) => {
              chosen = index;
              draw();
            }) : null,
            place);
}
