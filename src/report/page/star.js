// A node of a graph with its neighbours round it, and edges as thick as their weight.

function star_view(node, neighbours, weights) {
  const most = 24;  // more would hide each other
  const order = neighbours.map((name, i) => ({name, weight: weights[i]}))
                    .sort((a, b) => b.weight - a.weight);
  const shown = order.slice(0, most), largest = shown[0]?.weight || 1;
  const radius = 120 + 3 * shown.length, side = 2 * radius + 340, height = 2 * radius + 70;
  const middle = {x: side / 2, y: height / 2};
  const svg = el('svg', {
    class: 'star',
    viewBox: `0 0 ${side} ${height}`,
    role: 'img',
    style: `width:100%;max-width:${side}px`,
    'aria-label': `${node} looks at ${
        shown.map((one) => `${one.name} ${one.weight.toFixed(3)}`).join(', ')}`
  });
  const places = shown.map((one, n) => {
    const turn = 2 * Math.PI * n / shown.length;
    return {
      ...one,
      x: middle.x + radius * Math.sin(turn),
      y: middle.y - radius * Math.cos(turn)
    };
  });
  for (const one of [...places].reverse()) {
    const part = one.weight / largest;
    svg.append(
        el('line', {
          x1: middle.x,
          y1: middle.y,
          x2: one.x,
          y2: one.y,
          stroke: 'currentColor',
          'stroke-opacity': 0.25 + 0.6 * part,
          'stroke-width': Math.max(0.75, 14 * part)
        },
           el('title', {}, `${one.name}: ${one.weight.toFixed(4)}`)));
  }
  for (const one of places) {
    const aside = one.x - middle.x, above = Math.abs(aside) < 1e-6;
    svg.append(
        el('circle', {cx: one.x, cy: one.y, r: 6, fill: 'currentColor'}),
        el('text', {
          x: above ? one.x : one.x + Math.sign(aside) * 11,
          y: above ? one.y + (one.y < middle.y ? -14 : 18) : one.y,
          dy: above ? null : '0.35em',
          'font-size': 12,
          fill: 'currentColor',
          'text-anchor': above ? 'middle' : aside > 0 ? 'start' : 'end'
        },
           `${one.name} ${one.weight.toFixed(3)}`));
  }
  const wide = 9 * node.length + 20;
  svg.append(
      el('rect', {
        x: middle.x - wide / 2,
        y: middle.y - 13,
        width: wide,
        height: 26,
        rx: 5,
        style: 'fill:var(--paper, #fff);stroke:currentColor;stroke-width:2'
      }),
      el('text', {
        x: middle.x,
        y: middle.y,
        dy: '0.35em',
        'font-size': 14,
        'font-weight': 600,
        fill: 'currentColor',
        'text-anchor': 'middle'
      },
         node));
  const note = order.length > most ?
      el('p', {class: 'soft small'}, `The ${most} heaviest of ${order.length} neighbours.`) :
      null;
  return el('div', {class: 'star-view'}, svg, note);
}
