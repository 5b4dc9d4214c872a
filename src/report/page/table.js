// The table of choices: sorted by any column, with the main metric's seeds, mean and spread drawn.

function measured(choice, metric) {
  const found = choice.metrics?.[metric] ?? {};
  return {
    mean: number_or_null(found.mean),
    spread: number_or_null(found.spread),
    values: list(found.values).map(number_or_null).filter((v) => v !== null)
  };
}

// A choice's sign everywhere; hollow where its line is dashed, as colours start over.
const dot = (choice) => el('span', {class: choice.dashed ? 'dot hollow' : 'dot'});

// The mean as a dot, the spread as a bar, each seed as a faint dot, on an axis that all rows share.
function seed_plot({mean, spread, values}, [low, high]) {
  const x = (v) => 6 + 88 * (high > low ? (v - low) / (high - low) : 0.5);
  const svg =
      el('svg', {viewBox: '0 0 100 26', 'aria-hidden': 'true'},
         el('line', {class: 'track', x1: 0, x2: 100, y1: 13, y2: 13}));
  if (mean === null) return svg;
  if (spread) {
    svg.append(
        el('line', {class: 'error', x1: x(mean - spread), x2: x(mean + spread), y1: 13, y2: 13}));
    for (const end of [mean - spread, mean + spread]) {
      svg.append(el('line', {class: 'error', x1: x(end), x2: x(end), y1: 9, y2: 17}));
    }
  }
  for (const value of values) svg.append(el('circle', {class: 'seed', cx: x(value), cy: 13, r: 3}));
  svg.append(el('circle', {class: 'mean', cx: x(mean), cy: 13, r: 5}));
  return svg;
}

const verdict_words = {
  worse: 'worse',
  tie: 'may be chance',
  too_few_seeds: 'too few seeds',
  one_seed_differs: 'differs',
  one_seed_alike: 'alike'
};
const verdict_of = (choice) => (choice.verdict in verdict_words ? choice.verdict : null);

function verdict_cell(choice) {
  if (choice.best) return [el('span', {class: 'best-mark'}, 'best')];
  const verdict = verdict_of(choice), p = number_or_null(choice.p_value);
  if (verdict === null) return [dash];
  const more = verdict.startsWith('one_seed') ? 'on this one seed' : p === null ? '' : p_text(p);
  return [verdict_words[verdict], el('small', {}, more)];
}

// A name may go on in the next line after a comma, and nowhere else.
const breakable = (name) =>
    name.split(',').flatMap((part, i) => (i ? [',', el('wbr'), part] : [part]));

// Columns are {key, title, rising (sort first upwards), value(choice), cell(choice), css}.
function table_columns(comparison) {
  const {choices, metric, metrics, formats} = comparison;
  const columns =
      [{key: 'choice', title: 'Choice', rising: true, value: (c) => c.name, cell: null}];
  for (const name of metrics) {
    const format = formats[name];
    const is_main = name === metric.name;
    const rising = is_main ? !metric.higher_is_better : lower_better.test(name);
    const all = choices.flatMap((c) => {
      const {mean, spread, values} = measured(c, name);
      return mean === null ? values : [mean - (spread ?? 0), mean + (spread ?? 0), ...values];
    });
    const range = [Math.min(...all), Math.max(...all)];
    const numbers = ({mean, spread}) =>
        [el('span', {class: is_main ? 'value' : null}, format.text(mean)),
         spread === null || mean === null ?
             null :
             el('span', {class: 'spread'}, ` ${format.spread(spread)}`)];
    columns.push({
      key: name,
      title: capital(metric_title(name)),
      rising,
      css: is_main ? 'main-metric' : null,
      value: (c) => measured(c, name).mean,
      cell: (c) => {
        const found = measured(c, name);
        return is_main ?
            el('span', {class: 'plot-cell'}, el('span', {}, ...numbers(found).filter(Boolean)),
               seed_plot(found, range)) :
            numbers(found);
      }
    });
    if (is_main && choices.some((c) => verdict_of(c) !== null)) {
      columns.push({
        key: 'p_value',
        title: 'Against the best',
        rising: true,
        css: 'verdict',
        value: (c) => (c.best ? 2 : number_or_null(c.p_value)),
        cell: verdict_cell
      });
    }
  }
  const small = (v) => (v === null ? dash : significant(v, 2));
  const positive = (v) => (number_or_null(v) > 0 ? v : null);
  const figure = (key, title, rising, text) =>
      ({key, title, rising, value: (c) => positive(c[key]), cell: (c) => text(positive(c[key]))});
  columns.push(
      figure('parameters', 'Parameters', true, whole), figure('step_ms', 'Step, ms', true, plain),
      {
        ...figure('example_ms', 'One example, ms', true, plain),
        cell: (c) => {
          const slow = positive(c.example_ms_95);
          return [
            small(positive(c.example_ms)),
            slow === null ? null : el('span', {class: 'spread'}, ` ≤ ${small(slow)}`)
          ];
        }
      },
      figure('examples_per_second', 'Examples per s', false, whole),
      figure('peak_mb', 'Memory, MB', true, plain));
  // A column that nobody filled says nothing.
  return columns.filter(
      (column) => ['choice', 'p_value', metric.name].includes(column.key) ||
          choices.some((choice) => column.value(choice) !== null));
}

function table_row(choice, columns) {
  const notes = [[choice.stopped, ''], [choice.failed, ' failed']].filter(([text]) => text);
  return el(
      'tr', {style: `--mine:${choice.colour}`, 'data-choice': choice.name},
      el('th', {scope: 'row'}, el('span', {class: 'choice-name'}, dot(choice), el('span', {}, ...breakable(choice.name))),
         ...notes.map(([text, css]) => el('span', {class: `choice-note${css}`}, text))),
      ...columns.slice(1).map(
          (column) =>
              el('td', {class: column.css, 'data-label': column.title},
                 el('span', {}, column.cell(choice)))));
}

function table_section(comparison) {
  const columns = table_columns(comparison);
  const body = el('tbody'), heads = new Map();
  let sorted = null, rising = true;

  function sort_by(key, turn) {
    const column = columns.find((c) => c.key === key);
    rising = turn && sorted === key ? !rising : column.rising;
    sorted = key;
    const order = [...comparison.choices].sort((a, b) => {
      const x = column.value(a), y = column.value(b);
      if (x === null || y === null)
        return (x === null) - (y === null);  // unknown ones last, either way
      const less = typeof x === 'string' ? x.localeCompare(y, 'en', {numeric: true}) : x - y;
      return rising ? less : -less;
    });
    body.replaceChildren(...order.map((choice) => table_row(choice, columns)));
    for (const [name, head] of heads) {
      if (name === key)
        head.setAttribute('aria-sort', rising ? 'ascending' : 'descending');
      else
        head.removeAttribute('aria-sort');
    }
    phone.querySelector('select').value = key;
  }

  for (const {key, title, css} of columns) {
    heads.set(
        key,
        el('th', {scope: 'col', class: css},
           el('button', {type: 'button', onclick: () => sort_by(key, true)}, title)));
  }
  const phone =
      el('div', {class: 'controls sort-phone'},
         dropdown(
             'Sort by', columns.map(({key, title}) => [key, title]), comparison.metric.name,
             (key) => sort_by(key, false)));
  sort_by(comparison.metric.name, false);
  const seeds = comparison.seeds.length;
  return el(
      'section', {id: 'result'}, el('h2', {}, 'The result'),
      el('p', {class: 'hint'},
         seeds > 1 ? `Mean and spread over ${seeds} seeds; each faint dot is one seed.` :
                     'One seed, so there is no spread to show.',
         comparison.choices.some((c) => number_or_null(c.example_ms_95) !== null) ?
             ' One example, ms: the median of answers given one at a time, and (≤) what 95 of ' +
                 '100 stayed below.' :
             ''),
      phone,
      el('div', {class: 'table-frame'},
         el('table', {}, el('thead', {}, el('tr', {}, ...heads.values())), body)));
}
