// The maps of a model with several layers and heads: a grid of small ones for each kind, from which
// one is chosen by pointer, keys or lists; the choice holds for every model and example of the
// page.

// "decoder/1/cross head 3" is head 3 of layer 1 of the kind "decoder/*/cross"; a name of another
// form is a kind by itself. Names may come from anywhere, so none of their parts is taken on trust.
function head_place(name) {
  const [, stem, head] = /^(.*?)(?: head ([1-9]\d*))?$/s.exec(name);
  const layered = /^(?:(.*)\/)?(\d+)\/(.+)$/s.exec(stem);
  return {
    kind: layered ? [layered[1], '*', layered[3]].filter((part) => part).join('/') : stem,
    title: layered ? [layered[1], layered[3]].filter((part) => part).join(' ') : stem,
    layer: layered ? Number(layered[2]) : null,
    head: head ? Number(head) : null
  };
}

// The maps of one drawing as tables, one a kind: {kind, title, layers, heads, at(layer, head)}.
function head_tables(maps) {
  const tables = new Map();
  maps.forEach((map, i) => {
    const {kind, title, layer, head} = head_place(String(map.name || `map ${i + 1}`));
    if (!tables.has(kind)) tables.set(kind, {kind, title, cells: new Map()});
    const {cells} = tables.get(kind);
    if (!cells.has(layer)) cells.set(layer, new Map());
    cells.get(layer).set(head ?? 1, map);
  });
  return [...tables.values()].map(
      ({kind, title, cells}) => ({
        kind,
        title,
        layers: [...cells.keys()],
        heads: [...new Set([...cells.values()].flatMap((row) => [...row.keys()]))],
        at: (layer, head) => cells.get(layer)?.get(head)
      }));
}
const has_head_grid = (tables) =>
    tables.some(({layers, heads}) => layers.length > 1 || heads.length > 1);

// A choice is {kind, layer, head}, head 0 being the mean of all. Where a model does not have what
// was chosen it shows what is nearest. Without a choice that is what stands next to the answer: the
// last kind and layer; maps that have neither layers nor heads start with the first.
function head_fitted(tables, choice) {
  const layered = tables.some(({layers, heads}) => layers[0] !== null || heads.length > 1);
  const table = tables.find(({kind}) => kind === choice?.kind) ?? tables.at(layered ? -1 : 0);
  const layer = choice?.kind === table.kind && table.layers.includes(choice.layer) ?
      choice.layer :
      table.layers.at(-1);
  const head = table.heads.length === 1  ? table.heads[0] :
      table.at(layer, choice?.head ?? 0) ? choice.head :
                                           0;
  return {kind: table.kind, layer, head};
}

// "decoder/1/cross", as maps are named and `fovea attend --map` takes it.
const layer_name = ({kind, layer}) => (layer === null ? kind : kind.replace('*', layer));

const head_means = new WeakMap();  // by a layer's first map
function head_map(tables, {kind, layer, head}) {
  const table = tables.find((one) => one.kind === kind);
  if (head) return table.at(layer, head);
  const maps = table.heads.map((h) => table.at(layer, h)).filter(Boolean);
  if (!head_means.has(maps[0])) {
    const all = maps.map(heat_rows);
    head_means.set(maps[0], {
      ...maps[0],
      name: `${layer_name({kind, layer})}, mean of ${maps.length} heads`,
      weights: all[0].map(
          (row, i) => row.map(
              (_, j) => all.reduce((sum, rows) => sum + (rows[i]?.[j] ?? 0), 0) / all.length))
    });
  }
  return head_means.get(maps[0]);
}

// The choice in the page's address, beside the theme, so that a link shows the same head.
function head_choice_of_link() {
  const link = new URLSearchParams(location.hash.slice(1)), map = link.get('map');
  return map === null ? null : {...head_place(map), head: Number(link.get('head')) || 0};
}
function link_head_choice(choice) {
  const kept =
      location.hash.slice(1).split('&').filter((part) => part && !/^(map|head)=/.test(part));
  try {
    const map = encodeURIComponent(layer_name(choice)).replaceAll('%2F', '/');
    const head = choice.head ? [`head=${choice.head}`] : [];
    history.replaceState(null, '', `#${[...kept, `map=${map}`, ...head].join('&')}`);
  } catch {  // a page inside another may not be allowed to
  }
}

// Lists for the kind, the layer and the head of the models `all` (tables each).
function head_pickers(all, choice, on_choose) {
  const tables = all.flat(), same = tables.filter(({kind}) => kind === choice.kind);
  const numbers = (lists) => [...new Set(lists.flat())].sort((a, b) => a - b);
  const kinds = new Map(tables.map(({kind, title}) => [kind, title]));
  const layers = numbers(same.map((table) => table.layers));
  const heads = numbers(same.map((table) => table.heads));
  const pick = (part, read) => (value) => on_choose({...choice, [part]: read(value)});
  return [
    kinds.size > 1 ? dropdown('Map', [...kinds], choice.kind, pick('kind', String)) : null,
    layers.length > 1 ?
        dropdown('Layer', layers.map((l) => [l, l]), choice.layer, pick('layer', Number)) :
        null,
    heads.length > 1 ? dropdown(
                           'Head', [[0, 'all heads, mean'], ...heads.map((h) => [h, h])],
                           choice.head, pick('head', Number)) :
                       null
  ].filter(Boolean);
}

// The lists again after a choice, with the keyboard where it was.
function show_head_pickers(place, all, choice, on_choose) {
  const at = (label) => label.firstChild.textContent;
  const held = [...place.children].find((label) => label.contains(document.activeElement));
  place.replaceChildren(...head_pickers(all, choice, on_choose));
  if (held)
    [...place.children].find((label) => at(label) === at(held))?.querySelector('select').focus();
}

// The map that a choice changes may be higher or lower than the one before: what was clicked stays
// under the pointer, unless nothing of the map (which `choose` returns) would then be seen.
function choose_in_place(clicked, choose) {
  const before = clicked.getBoundingClientRect().top;
  const changed = choose();
  window.scrollBy(0, clicked.getBoundingClientRect().top - before);
  const {top, bottom} = changed.getBoundingClientRect();
  if (bottom < 60 || top > window.innerHeight - 60) changed.scrollIntoView({block: 'nearest'});
}

// A map in at most 64 × 64 points, the largest weight of each block.
const most_points = 64;
function head_points(map) {
  const rows = list(map.queries).length, columns = list(map.keys).length;
  const tall = Math.min(rows, most_points), wide = Math.min(columns, most_points);
  const points = new Float32Array(tall * wide);
  heat_rows(map).forEach((row, i) => {
    const line = Math.floor(i * tall / rows) * wide;
    row.forEach((w, j) => {
      const at = line + Math.floor(j * wide / columns);
      if (w > points[at]) points[at] = w;
    });
  });
  return {tall, wide, points, largest: points.reduce((a, b) => Math.max(a, b), 0)};
}

function paint_head(canvas, {tall, wide, points}, largest, shades) {
  if (!points.length) return;
  const context = canvas.getContext('2d'), image = context.createImageData(wide, tall);
  points.forEach((w, at) => {
    const t = largest > 0 ? Math.min(1, w / largest) : 0;
    image.data.set(shades[Math.round(t * (shades.length - 1))], 4 * at);
  });
  context.putImageData(image, 0, 0);
}

// One kind: a row a layer, a column a head. A row's name is the mean of its
// heads.
function head_grid(table, on_choose) {
  const {kind, title, layers, heads} = table;
  const small = new Map();  // canvas → points
  const name = (layer, head) => [title, layer === null ? null : `layer ${layer}`,
                                 head ? `head ${head}` : 'all heads, mean']
                                    .filter(Boolean)
                                    .join(', ');
  const cell = (layer, head, ...inside) =>
      el('button', {
        type: 'button',
        tabindex: '-1',
        class: head ? 'head' : 'head-mean',
        'aria-label': name(layer, head),
        'aria-pressed': 'false',
        title: name(layer, head),
        'data-kind': kind,
        'data-layer': layer,
        'data-head': head,
        onclick: (event) =>
            choose_in_place(event.currentTarget, () => on_choose({kind, layer, head}))
      },
         ...inside);
  const picture = (map) => {
    const points = head_points(map);
    const canvas = el('canvas', {width: points.wide, height: points.tall});
    // Very long or very flat maps would leave their neighbours no room.
    canvas.style.aspectRatio = String(Math.min(1.4, Math.max(0.7, points.wide / points.tall || 1)));
    if (Math.max(points.wide, points.tall) <= 32) canvas.style.imageRendering = 'pixelated';
    small.set(canvas, points);
    return canvas;
  };
  const rows = layers.map(
      (layer) =>
          [heads.length > 1 ? cell(layer, 0, layer === null ? 'mean' : String(layer)) :
                              el('span', {class: 'soft'}, layer === null ? '' : String(layer)),
           ...heads.map((head) => {
             const map = table.at(layer, head);
             return map ? cell(layer, head, picture(map)) : el('span');
           })]);
  const corner = el('span', {class: 'head-corner'}, layers[0] === null ? '' : 'layer');
  const element = el(
      'div',
      {class: 'head-grid', role: 'group', 'aria-label': `${title}: rows are layers, columns heads`},
      el('h4', {}, title),
      el('div', {class: 'head-scroll'},
         el('div', {class: 'head-cells', style: `--columns:${heads.length}`}, corner,
            ...heads.map((head) => el('span', {class: 'head-number'}, String(head))),
            ...rows.flat())));
  // Heads that look everywhere stay paler than those that look at one word, but can be seen.
  const least = [...small.values()].reduce((most, one) => Math.max(most, one.largest), 0) / 3;
  element.paint = () => {
    const stops = heat_stops();
    const shades = Array.from({length: 256}, (_, i) => [...heat_colour(stops, i / 255), 255]);
    for (const [canvas, points] of small)
      paint_head(canvas, points, Math.max(least, points.largest), shades);
  };
  element.paint();
  element.addEventListener('keydown', (event) => {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [
                    0, 1
                  ]}[event.key];
    const i = rows.findIndex((row) => row.includes(event.target));
    if (!step || i < 0) return;
    event.preventDefault();
    const to = rows[i + step[0]]?.[rows[i].indexOf(event.target) + step[1]];
    if (to?.tagName === 'BUTTON') to.focus();
  });
  return element;
}
on_theme.push(() => {
  for (const grid of document.querySelectorAll('.head-grid')) grid.paint();
});

// The grids of one model; `mark` shows what is chosen, which is also where the Tab key arrives.
function head_grids(tables, on_choose) {
  const most = Math.max(...tables.map(({heads}) => heads.length));
  const element =
      el('div', {class: 'head-grids', style: `--heads:${most}`},
         ...tables.map((one) => head_grid(one, on_choose)));
  element.mark = ({kind, layer, head}) => {
    for (const button of element.querySelectorAll('button')) {
      const {kind: its_kind, layer: its_layer, head: its_head} = button.dataset;
      const row = its_kind === kind && (its_layer ?? null) === (layer === null ? null : `${layer}`);
      const pressed = row && Number(its_head) === head;
      button.setAttribute('aria-pressed', String(pressed));
      button.classList.toggle('meant', row && head === 0);
      button.tabIndex = pressed ? 0 : -1;
    }
    for (const grid of element.children) {
      if (!grid.querySelector('[tabindex="0"]')) grid.querySelector('button').tabIndex = 0;
    }
  };
  return element;
}
