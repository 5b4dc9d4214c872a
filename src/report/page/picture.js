// A map over pictures: the picture as it is, then once for each word, with what it did not look at
// behind a veil. Of a film each word has its frames side by side. Pointing at one shows it large.

const picture_veil = [0x86, 0x8c, 0x94], picture_most_veil = 0.8;

// [{width, height, image}] of the ground's pictures; what cannot be read is left out.
function ground_pictures(ground) {
  return list(ground.pictures).flatMap(({width, height, channels, pixels}) => {
    const bytes = atob(String(pixels ?? ''));
    if (!(width > 0 && height > 0) || bytes.length !== width * height * channels) return [];
    const image = new ImageData(width, height);
    for (let i = 0; i < width * height; ++i) {
      for (let c = 0; c < 3; ++c)
        image.data[4 * i + c] = bytes.charCodeAt(i * channels + (channels === 1 ? 0 : c));
      image.data[4 * i + 3] = 255;
    }
    return [{width, height, image}];
  });
}

// Paints one picture; shades [rows * columns] from 0 to 1, or null for the picture as it is.
function paint_picture(canvas, picture, {shades = null, rows = 1, columns = 1, boxes = [],
                                         path = []} = {}) {
  const {width, height, image} = picture;
  const scale = Math.max(1, Math.ceil(220 / Math.max(width, height)));
  canvas.width = width * scale;
  canvas.height = height * scale;
  const plain = el('canvas', {width, height});
  plain.getContext('2d').putImageData(image, 0, 0);
  const context = canvas.getContext('2d');
  context.imageSmoothingEnabled = false;
  context.drawImage(plain, 0, 0, canvas.width, canvas.height);
  if (shades)
    for (let i = 0; i < rows * columns; ++i) {
      const part = picture_most_veil * (1 - Math.min(1, Math.max(0, shades[i])));
      const x = i % columns, y = Math.floor(i / columns);
      const left = Math.round(x * canvas.width / columns),
            right = Math.round((x + 1) * canvas.width / columns);
      const top = Math.round(y * canvas.height / rows),
            bottom = Math.round((y + 1) * canvas.height / rows);
      context.fillStyle = `rgba(${picture_veil},${part})`;
      context.fillRect(left, top, right - left, bottom - top);
    }
  context.lineWidth = Math.max(1, scale / 3);
  context.strokeStyle = '#ff2d9b';
  const half = context.lineWidth / 2;
  for (const [x, y, w, h] of boxes)
    context.strokeRect(x * scale + half, y * scale + half, w * scale - 2 * half,
                       h * scale - 2 * half);
  const middle = ([x, y, w, h]) => [(x + w / 2) * scale, (y + h / 2) * scale];
  context.beginPath();
  path.forEach((box, i) => context[i ? 'lineTo' : 'moveTo'](...middle(box)));
  context.stroke();
  path.forEach((box, i) => {
    const [x, y] = middle(box), size = 3 * context.lineWidth;
    context.fillStyle = i ? '#ff2d9b' : '#12e8d0';
    context.fillRect(x - size / 2, y - size / 2, size, size);
  });
}

// As heat_view() gives it: `light` is for others to call.
function picture_view(map, {on_point = null} = {}) {
  const ground = map.ground, pictures = ground_pictures(ground), queries = list(map.queries);
  const figure = el('figure', {class: 'heat picture-map'});
  if (!pictures.length) {
    figure.append(el('p', {class: 'soft small'}, 'Nothing to draw: this map has no picture.'));
    return figure;
  }
  const film = pictures.length > 1, rows = ground.rows || 0, columns = ground.columns || 0;
  const regions = rows * columns, weights = heat_rows(map), boxes = list(ground.boxes);
  const path = ground.path ? boxes.map((one) => list(one)[0]).filter(Boolean) : [];
  // Query null is the picture as it is.
  const paint = (canvas, picture, query) => {
    const row = query === null ? [] : weights[query] ?? [];
    const largest = row.reduce((a, b) => Math.max(a, b), 0);
    const mine = row.slice(picture * regions, (picture + 1) * regions);
    paint_picture(canvas, pictures[picture], {
      shades: query === null || !regions ? null : mine.map((w) => (largest > 0 ? w / largest : 0)),
      rows,
      columns,
      boxes: query === null || picture > 0 ? [] : list(boxes[query]),
      path: query === null && picture === 0 ? path : []
    });
    return largest;
  };
  const large = film ? null : el('canvas', {class: 'picture-large'});
  const says = el('p', {class: 'heat-says', 'aria-live': 'polite'});
  let active = null;
  const show = () => {
    if (large) paint(large, 0, active);
    tiles.forEach((tile, i) => tile.classList.toggle('lit', active !== null && i === active + 1));
    if (active === null)
      return says.replaceChildren(film ? 'The film, and what each word looked at' : 'The picture');
    const row = weights[active] ?? [], most = row.reduce((a, b) => Math.max(a, b), 0);
    const at = row.indexOf(most);
    says.replaceChildren(
        el('b', {}, shown(String(queries[active]))),
        regions ? ` looks most at ${film ? 'frame' : 'region'} ${list(map.keys)[at]} with ${
                      weight_text(most)}` :
                  '');
  };
  const tile_of = (query) => {
    const canvases = pictures.map((_, i) => {
      const canvas = el('canvas');
      paint(canvas, i, query);
      return canvas;
    });
    const label = query === null ? (film ? 'film' : 'picture') : shown(String(queries[query]));
    return el(
        'button', {
          type: 'button',
          class: `picture-tile${film ? ' film' : ''}`,
          'aria-label': label,
          onpointerenter: () => move_to(query),
          onfocus: () => move_to(query),
          onclick: () => move_to(query)
        },
        film ? el('span', {class: 'picture-name'}, label) : null,
        el('span', {class: 'picture-frames'}, ...canvases),
        film ? null : el('span', {class: 'picture-name'}, label));
  };
  const move_to = (query) => {
    active = query;
    show();
    on_point?.(query === null ? null : [query, null], figure);
  };
  const tiles = [null, ...queries.map((_, i) => i)].map(tile_of);
  figure.append(
      ...[large, says, el('div', {class: `picture-tiles${film ? ' film' : ''}`}, ...tiles)].filter(
          Boolean));
  figure.light = (at) => {
    active = at && at[0] < queries.length ? at[0] : null;
    show();
  };
  figure.addEventListener('pointerleave', () => move_to(null));
  show();
  return figure;
}
