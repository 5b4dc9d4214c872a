// What quality costs: the main metric of every choice against the time of a step and the memory.

// One point a choice; better is up, cheaper is left. Costs that differ by more than a factor of
// five are on a logarithmic axis.
function cost_chart(comparison, key, title, unit) {
  const {choices, metric, formats} = comparison;
  const points = choices
                     .map((choice) => ({
                            choice,
                            cost: number_or_null(choice[key]),
                            ...measured(choice, metric.name)
                          }))
                     .filter(({cost, mean}) => cost > 0 && mean !== null);
  if (points.length < 2) return null;
  const frame = el('div'), format = formats[metric.name];
  const element = el('figure', {class: 'chart cost'}, el('figcaption', {}, title), frame);
  const margin = {left: 60, right: 90, top: 14, bottom: 42};
  const costs = points.map(({cost}) => cost);
  const low_cost = Math.min(...costs), high_cost = Math.max(...costs);
  const log = high_cost / low_cost > 5, turn = log ? Math.log10 : (v) => v;
  const ends = points.flatMap(({mean, spread}) => [mean - (spread ?? 0), mean + (spread ?? 0)]);
  const room = (Math.max(...ends) - Math.min(...ends) || Math.abs(ends[0]) || 1) * 0.08;
  const low = Math.min(...ends) - room, high = Math.max(...ends) + room;
  const x_low = log ? low_cost / 1.3 : Math.max(0, low_cost - (high_cost - low_cost) * 0.15);
  const x_high = log ? high_cost * 1.3 : high_cost * 1.08;
  draw_to_width(frame, (width) => {
    const height = Math.round(Math.min(340, Math.max(240, width * 0.62)));
    const floor = height - margin.bottom;
    const x = (v) => margin.left +
        (width - margin.left - margin.right) * (turn(v) - turn(x_low)) /
            (turn(x_high) - turn(x_low) || 1);
    const up = (v) => margin.top + (floor - margin.top) * (high - v) / (high - low);
    // Where lower is better the axis is turned, so that up stays better.
    const y = (v) => (metric.higher_is_better ? up(v) : margin.top + floor - up(v));
    const svg = el('svg', {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: 'img',
      'aria-label': `${title}: ${
          points
              .map(({choice, cost, mean}) =>
                       `${choice.name} ${format.text(mean)} at ${significant(cost, 3)} ${unit}`)
              .join(', ')}`
    });
    for (const v of nice_ticks(low + room / 2, high - room / 2, 4)) {
      svg.append(
          el('line',
             {class: 'grid', x1: margin.left, x2: width - margin.right, y1: y(v), y2: y(v)}),
          el('text', {x: margin.left - 8, y: y(v), dy: '0.35em', 'text-anchor': 'end'},
             format.text(v)));
    }
    svg.append(el(
        'line', {class: 'axis', x1: margin.left, x2: width - margin.right, y1: floor, y2: floor}));
    const ticks = log ?
        [-3, -2, -1, 0, 1, 2, 3, 4, 5, 6].flatMap((p) => [1, 2, 5].map((m) => m * 10 ** p))
            .filter((v) => v >= x_low && v <= x_high) :
        nice_ticks(x_low, x_high, 4);
    for (const v of ticks) {
      svg.append(el('text', {x: x(v), y: floor + 17, 'text-anchor': 'middle'},
                    Number(v.toPrecision(3)).toLocaleString('en')));
    }
    svg.append(el('text', {x: width - margin.right, y: floor + 35, 'text-anchor': 'end'},
                  log ? `${unit} (logarithmic)` : unit));
    // Names that would stand on each other move down.
    const taken = [];
    for (const {choice, cost, mean, spread} of [...points].sort((a, b) => y(a.mean) - y(b.mean))) {
      const at = {x: x(cost), y: y(mean)};
      if (spread) {
        svg.append(el('line', {
          class: 'error',
          style: `stroke:${choice.colour}`,
          x1: at.x,
          x2: at.x,
          y1: y(mean - spread),
          y2: y(mean + spread)
        }));
      }
      let text_y = at.y;
      while (taken.some((t) => Math.abs(t.x - at.x) < 90 && Math.abs(t.y - text_y) < 13))
        text_y += 13;
      taken.push({x: at.x, y: text_y});
      if (text_y > at.y) {  // which point a name that has moved belongs to
        svg.append(el('line', {
          style: `stroke:${choice.colour};opacity:0.6`,
          x1: at.x,
          y1: at.y,
          x2: at.x + 7,
          y2: text_y
        }));
      }
      svg.append(
          el('circle', {
            cx: at.x,
            cy: at.y,
            r: 5,
            style: choice.dashed ? `fill:none;stroke-width:2;stroke:${choice.colour}` :
                                   `fill:${choice.colour}`
          },
             el('title', {}, `${choice.name}: ${format.text(mean)}, ${plain(cost)} ${unit}`)),
          el('text', {x: at.x + 9, y: text_y, dy: '0.35em'},
             choice.name.length > 22 ? `${choice.name.slice(0, 21)}…` : choice.name));
    }
    frame.replaceChildren(svg);
  });
  return element;
}

function cost_section(comparison) {
  const charts = [
    cost_chart(comparison, 'step_ms', 'Against the time of a step', 'ms'),
    cost_chart(comparison, 'peak_mb', 'Against memory', 'MB')
  ].filter(Boolean);
  if (!charts.length) return null;
  return el(
      'section', {id: 'cost'}, el('h2', {}, 'What it costs'),
      el('p', {class: 'hint'},
         `${capital(metric_title(comparison.metric.name))} upwards, cost to the right: nothing is ` +
             'better than what stands furthest up and left.'),
      el('div', {class: 'charts'}, ...charts));
}
