// One line chart in SVG: axes, lines with bands, and the values under the pointer.

const axes_in_words = {
  seconds: {title: 'seconds', at: (v) => `${significant(v, 3)} s`},
  step: {title: 'steps', at: (v) => `step ${whole(v)}`},
  length: {title: 'length', at: (v) => `length ${whole(v)}`}
};

function line_chart(title, y_text, may_be_log) {
  const note = el('span');
  const frame = el('div'), tip = el('div', {class: 'tip', hidden: true});
  const element =
      el('figure', {class: 'chart'}, el('figcaption', {}, title, ' ', note), frame, tip);
  const margin = {left: 52, right: 14, top: 10, bottom: 40};
  let series = [], axis = 'seconds', width = 0;

  const x_text = (v) => axes_in_words[axis].at(v);

  function scales(height) {
    const points = series.flatMap((s) => s.points);
    const xs = points.map((p) => p.x), lows = points.map((p) => p.low),
          highs = points.map((p) => p.high);
    const x_high = Math.max(...xs, 0), x_low = Math.min(...xs, x_high);
    let low = Math.min(...lows), high = Math.max(...highs);
    // Losses fall by orders of magnitude; on a straight axis all that matters lies on the floor.
    const log = may_be_log && low > 0 && high / low > 12;
    if (!log) {
      if (low > 0 && low < high * 0.6) low = 0;
      const room = (high - low || Math.abs(high) || 1) * 0.04;
      low = low === 0 ? 0 : low - room;
      high += room;
    }
    const turn = log ? Math.log10 : (v) => v, from = turn(low), span = turn(high) - from || 1;
    const x0 = x_low < x_high * 0.2 ? 0 : x_low;
    const ticks = log ? log_ticks(low, high) : nice_ticks(low, high, 4);
    return {
      x: (v) => margin.left + (width - margin.left - margin.right) * (v - x0) / (x_high - x0 || 1),
      y: (v) => margin.top + (height - margin.top - margin.bottom) * (1 - (turn(v) - from) / span),
      x_ticks: nice_ticks(x0, x_high, Math.max(2, Math.floor(width / 90))),
      y_ticks: ticks,
      log
    };
  }

  function log_ticks(low, high) {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power) {
      for (const m of [1, 2, 5]) {
        const v = m * 10 ** power;
        if (v >= low * 0.999 && v <= high * 1.001) ticks.push(v);
      }
    }
    return ticks.length > 7 ? ticks.filter((v) => /^1/.test(v.toExponential())) : ticks;
  }

  function draw() {
    if (!width) return;
    const height = Math.round(Math.min(320, Math.max(220, width * 0.6)));
    const svg = el('svg', {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: 'img',
      'aria-label': `${title}: ${
          series.map((s) => `${s.name} ends at ${y_text(s.points.at(-1).mean)}`).join(', ')}`
    });
    tip.hidden = true;
    frame.replaceChildren(svg);
    if (!series.length) {
      svg.append(
          el('text', {x: width / 2, y: height / 2, 'text-anchor': 'middle'}, 'No line is shown.'));
      return;
    }
    const scale = scales(height), floor = height - margin.bottom;
    note.textContent = scale.log ? '(logarithmic)' : '';
    for (const v of scale.y_ticks) {
      svg.append(
          el('line', {
            class: 'grid',
            x1: margin.left,
            x2: width - margin.right,
            y1: scale.y(v),
            y2: scale.y(v)
          }),
          el('text', {x: margin.left - 8, y: scale.y(v), dy: '0.35em', 'text-anchor': 'end'},
             tick_text(v)));
    }
    svg.append(el(
        'line', {class: 'axis', x1: margin.left, x2: width - margin.right, y1: floor, y2: floor}));
    for (const v of scale.x_ticks) {
      svg.append(
          el('text', {x: scale.x(v), y: floor + 17, 'text-anchor': 'middle'},
             Number(v.toPrecision(6)).toLocaleString('en')));
    }
    svg.append(
        el('text', {x: width - margin.right, y: floor + 34, 'text-anchor': 'end'},
           axes_in_words[axis].title));
    for (const s of series) {
      const along = (points, key) =>
          points.map((p) => `${scale.x(p.x).toFixed(1)} ${scale.y(p[key]).toFixed(1)}`);
      const band = [...along(s.points, 'high'), ...along([...s.points].reverse(), 'low')].join('L');
      svg.append(el('path', {class: 'band', style: `fill:${s.colour}`, d: `M${band}Z`}));
    }
    for (const s of series) {
      const line = s.points.map((p) => `${scale.x(p.x).toFixed(1)} ${scale.y(p.mean).toFixed(1)}`);
      svg.append(el('path', {
        class: 'line',
        style: `stroke:${s.colour}`,
        'stroke-dasharray': s.dashed ? '6 5' : null,
        d: `M${line.join('L')}`
      }));
      if (line.length === 1) {
        const [p] = s.points;
        svg.append(
            el('circle', {cx: scale.x(p.x), cy: scale.y(p.mean), r: 4, style: `fill:${s.colour}`}));
      }
    }
    const marks = el('g');
    svg.append(marks);
    svg.addEventListener('pointermove', (event) => point(event, svg, marks, scale, floor));
    svg.addEventListener('pointerdown', (event) => point(event, svg, marks, scale, floor));
    svg.addEventListener('pointerleave', () => {
      tip.hidden = true;
      marks.replaceChildren();
    });
  }

  const tick_text = (v) =>
      (y_text(v).endsWith('%') ? `${Number((v * 100).toPrecision(4))}\u202f%` :
                                 Number(v.toPrecision(3)));

  function point(event, svg, marks, scale, floor) {
    const at = event.clientX - svg.getBoundingClientRect().left;
    const nearest = (points) => points.reduce(
        (best, p) => Math.abs(scale.x(p.x) - at) < Math.abs(scale.x(best.x) - at) ? p : best);
    const found = series.map((s) => ({s, p: nearest(s.points)}));
    const x = found.map(({p}) => p.x)
                  .reduce((a, b) => Math.abs(scale.x(b) - at) < Math.abs(scale.x(a) - at) ? b : a);
    const here = found.filter(({p}) => Math.abs(scale.x(p.x) - scale.x(x)) < 24)
                     .sort((a, b) => b.p.mean - a.p.mean);
    marks.replaceChildren(
        el('line', {class: 'cursor', x1: scale.x(x), x2: scale.x(x), y1: margin.top, y2: floor}),
        ...here.map(
            ({s, p}) =>
                el('circle',
                   {cx: scale.x(p.x), cy: scale.y(p.mean), r: 4, style: `fill:${s.colour}`})));
    tip.replaceChildren(
        el('div', {class: 'soft'}, x_text(x)),
        ...here.map(
            ({s, p}) =>
                el('div', {style: `--mine:${s.colour}`}, el('i', {class: 'dot'}),
                   el('span', {}, s.name), el('b', {}, y_text(p.mean)))));
    tip.hidden = false;
    const left = scale.x(x) + 14;
    tip.style.left = `${
        left + tip.offsetWidth > width ? Math.max(0, scale.x(x) - 14 - tip.offsetWidth) : left}px`;
    tip.style.top = `${frame.offsetTop + margin.top}px`;
  }

  draw_to_width(frame, (w) => {
    width = w;
    draw();
  });
  return {
    element,
    show: (shown_series, shown_axis) => {
      series = shown_series;
      axis = shown_axis;
      draw();
    }
  };
}
