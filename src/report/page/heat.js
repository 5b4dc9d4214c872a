// An attention map: a canvas of cells (a map may have 40,000), labels and marks in SVG above it,
// and below it the keys as running text, each on the colour of the row that is pointed at.

const heat_stops = () => {
  const style = getComputedStyle(root);
  return [0, 1, 2, 3, 4, 5].map((i) => {
    const hex = style.getPropertyValue(`--heat-${i}`).trim();
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  });
};

function heat_colour(stops, t) {
  const at = Math.min(1, Math.max(0, t || 0)) * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  return stops[i].map((from, c) => Math.round(from + (stops[i + 1][c] - from) * (at - i)));
}

const weight_text = (w) => (w >= 0.1 || w === 0 ? w.toFixed(2) : w.toPrecision(2));
const shown = (token) =>
    (/^ *$/.test(token) ? '␣'.repeat(token.length) || '∅' :
                          token.replace(/\n/g, '↵').replace(/\t/g, '⇥'));
const shortened = (text, most) => {
  const letters = [...text];
  return letters.length > most ? letters.slice(0, most - 1).join('') + '…' : text;
};

// Rows of numbers, whatever came: missing ones are 0, one flat list is cut into rows.
function heat_rows(map) {
  const queries = list(map.queries), keys = list(map.keys), weights = list(map.weights);
  const at = Array.isArray(weights[0]) ? (i, j) => weights[i]?.[j] :
                                         (i, j) => weights[i * keys.length + j];
  return queries.map((_, i) => keys.map((_, j) => number_or_null(at(i, j)) ?? 0));
}
const heat_largest = (map) =>
    heat_rows(map).reduce((most, row) => row.reduce((a, b) => Math.max(a, b), most), 0);

function heat_scale(largest) {
  return el(
      'span',
      {class: 'heat-scale', role: 'img', 'aria-label': `Colours from 0 to ${weight_text(largest)}`},
      '0', el('i'), weight_text(largest));
}

// The keys as text; paint(weights) colours them. Each of the groups begins a line, behind a block
// in the colour of its weight.
function heat_words(keys, largest, alone, groups = []) {
  const letters = keys.every((key) => [...key].length <= 1);
  const spans = keys.map((key) => el('span', {}, letters && key === ' ' ? '\u00a0' : shown(key)));
  const element =
      el('div', {class: `heat-words${letters ? ' letters' : ''}${alone ? ' alone' : ''}`, dir: 'auto'});
  const most = groups.reduce((a, group) => Math.max(a, group.weight), 0);
  const blocks = new Map(groups.map((group) => [group.first, el('i', {
    class: 'heat-group',
    title: weight_text(group.weight),
    'data-shade': most > 0 ? group.weight / most : 0
  })]));
  spans.forEach((span, j) => {
    if (blocks.has(j)) {
      if (j > 0) element.append(el('br'));
      element.append(blocks.get(j));
    }
    element.append(span, letters ? '' : ' ');
  });
  const paint = (weights) => {
    const stops = heat_stops();
    for (const block of blocks.values())
      block.style.background = `rgb(${heat_colour(stops, Number(block.dataset.shade))})`;
    spans.forEach((span, j) => {
      const t = largest > 0 ? weights[j] / largest : 0;
      span.style.background = `rgb(${heat_colour(stops, t)})`;
      span.style.color = `var(--heat-ink-${t > 0.5 ? 'high' : 'low'})`;
      span.title = `${shown(keys[j])}  ${weight_text(weights[j])}`;
    });
  };
  return {element, paint};
}

// The whole view. `largest` is the weight of the darkest colour, so that maps side by side compare.
function heat_view(map, {largest = heat_largest(map), most_cell = 26, on_point = null} = {}) {
  if (map.ground) return picture_view(map, {on_point});
  const queries = list(map.queries).map(String), keys = list(map.keys).map(String);
  const rows = heat_rows(map);
  const figure = el('figure', {class: 'heat'});
  if (!queries.length || !keys.length) {
    figure.append(el('p', {class: 'soft small'}, 'Nothing to draw: this map is empty.'));
    return figure;
  }
  if (map.star && queries.length === 1) {
    figure.append(star_view(queries[0], keys, rows[0]));
    return figure;
  }
  const words = heat_words(keys, largest, queries.length === 1, list(map.groups));
  if (queries.length === 1) {
    figure.repaint = () => words.paint(rows[0]);
    figure.repaint();
    figure.append(words.element);
    return figure;
  }
  const average = keys.map((_, j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length);
  const says = el('p', {class: 'heat-says', 'aria-live': 'polite'});
  const canvas = el('canvas'), svg = el('svg');
  const body =
      el('div', {
        class: 'heat-body',
        tabindex: '0',
        role: 'application',
        'aria-label':
            `Attention map of ${queries.length} rows and ${keys.length} columns; arrow keys move`
      },
         canvas, svg);
  const scroll = el('div', {class: 'heat-scroll'}, body);
  figure.append(scroll, says, words.element);

  let place = null;   // sizes of the last drawing
  let active = null;  // [row, column or null]

  function show_active() {
    for (const old of svg.querySelectorAll('.lit, .ring, .row-frame')) {
      if (old.tagName === 'text')
        old.classList.remove('lit');
      else
        old.remove();
    }
    if (!active || !place) {
      says.replaceChildren('All rows on average');
      words.paint(average);
      return;
    }
    const [i, j] = active, {left, top, cell, tall} = place;
    const best = rows[i].indexOf(Math.max(...rows[i])), at = j ?? best;
    says.replaceChildren(
        el('b', {}, shown(queries[i])), j === null ? ' looks most at ' : ' looks at ',
        el('b', {}, shown(keys[at])), ` with ${weight_text(rows[i][at])}`);
    words.paint(rows[i]);
    svg.querySelector(`[data-row="${i}"]`)?.classList.add('lit');
    svg.querySelector(`[data-column="${at}"]`)?.classList.add('lit');
    svg.append(el('rect', {
      class: 'row-frame',
      x: left - 0.5,
      y: top + i * tall - 0.5,
      width: keys.length * cell,
      height: tall
    }));
    if (j !== null) {
      svg.append(el('rect', {
        class: 'ring',
        x: left + j * cell - 0.5,
        y: top + i * tall - 0.5,
        width: cell,
        height: tall
      }));
    }
  }

  function paint_cells() {
    const {cell, tall, ratio} = place, context = canvas.getContext('2d'), stops = heat_stops();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, keys.length * cell, queries.length * tall);
    const hair = Math.min(cell, tall) >= 8 ? 1 : 0;
    rows.forEach((row, i) => row.forEach((w, j) => {
      context.fillStyle = `rgb(${heat_colour(stops, largest > 0 ? w / largest : 0)})`;
      context.fillRect(j * cell, i * tall, cell - hair, tall - hair);
    }));
  }

  function draw(width) {
    const measure = canvas.getContext('2d');
    const font_of = (size) => `${size}px ${getComputedStyle(root).getPropertyValue('--mono')}`;
    const widest = (names, size) => {
      measure.setTransform(1, 0, 0, 1, 0, 0);
      measure.font = font_of(size);
      return Math.max(...names.map((name) => measure.measureText(name).width));
    };
    const row_names = queries.map((name) => shortened(shown(name), 16));
    const key_names = keys.map((name) => shortened(shown(name), 16));
    const left = Math.ceil(widest(row_names, 12)) + 10;
    const cell = Math.min(most_cell, Math.max(2, Math.floor((width - left - 2) / keys.length)));
    const tall = Math.max(2, Math.min(Math.max(cell, 15), Math.floor(560 / queries.length)));
    const font = Math.max(9, Math.min(12, cell)), row_font = Math.max(9, Math.min(12, tall));
    const key_width = widest(key_names, font), upright = key_width <= cell - 1;
    const top = Math.ceil(upright ? font + 8 : key_width + 8);
    const ratio = Math.max(1, window.devicePixelRatio || 1);
    place = {left, top, cell, tall, ratio};

    const columns_wide = keys.length * cell, rows_tall = queries.length * tall;
    canvas.width = Math.round(columns_wide * ratio);
    canvas.height = Math.round(rows_tall * ratio);
    canvas.style.cssText =
        `left:${left}px;top:${top}px;width:${columns_wide}px;height:${rows_tall}px`;
    body.style.width = `${left + columns_wide + 1}px`;
    body.style.height = `${top + rows_tall + 1}px`;
    svg.setAttribute('width', left + columns_wide);
    svg.setAttribute('height', top + rows_tall);

    // Where cells are thinner than letters, every second, third, ... has a label.
    const row_step = Math.ceil((row_font + 1) / tall),
          key_step = upright ? 1 : Math.ceil((font + 1) / cell);
    const labels = [];
    row_names.forEach((name, i) => {
      if (i % row_step) return;
      labels.push(
          el('text', {
            'data-row': i,
            x: left - 7,
            y: top + (i + 0.5) * tall,
            dy: '0.34em',
            'text-anchor': 'end',
            'font-size': row_font
          },
             name));
    });
    key_names.forEach((name, j) => {
      if (j % key_step) return;
      const x = left + (j + 0.5) * cell, y = top - 5;
      labels.push(el(
          'text', upright ? {'data-column': j, x, y, 'text-anchor': 'middle', 'font-size': font} : {
            'data-column': j,
            transform: `translate(${x} ${y}) rotate(-90)`,
            dy: '0.34em',
            'font-size': font
          },
          name));
    });
    svg.replaceChildren(...labels);
    paint_cells();
    show_active();
  }

  // `light` is for others to call, and does not call them back.
  figure.light = (at) => {
    active = at && at[0] < queries.length && (at[1] ?? 0) < keys.length ? at : null;
    show_active();
  };
  const move_to = (at) => {
    figure.light(at);
    on_point?.(at, figure);
  };

  const point = (event) => {
    if (!place) return;
    const box = body.getBoundingClientRect();
    const i = Math.floor((event.clientY - box.top - place.top) / place.tall);
    const j = Math.floor((event.clientX - box.left - place.left) / place.cell);
    const inside = i >= 0 && i < queries.length && j < keys.length;
    move_to(inside ? [i, j >= 0 ? j : null] : null);
  };
  body.addEventListener('pointermove', point);
  body.addEventListener('pointerdown', point);
  body.addEventListener('pointerleave', () => move_to(null));
  body.addEventListener('keydown', (event) => {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [
                    0, 1
                  ]}[event.key];
    if (event.key === 'Escape')
      move_to(null);
    else if (step) {
      const clamp = (v, n) => Math.min(n - 1, Math.max(0, v));
      move_to(
          active ?
              [
                clamp(active[0] + step[0], queries.length),
                clamp((active[1] ?? 0) + step[1], keys.length)
              ] :
              [0, 0]);
    } else
      return;
    event.preventDefault();
  });
  figure.repaint = () => {
    if (place) paint_cells();
    show_active();
  };
  show_active();
  draw_to_width(scroll, draw);
  return figure;
}
on_theme.push(() => {
  for (const figure of document.querySelectorAll('.heat')) figure.repaint?.();
});
