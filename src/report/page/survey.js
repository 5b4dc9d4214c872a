// What each head does over many examples: one row a head, sorted by any column, shares as heat.

const columns = [
  ['name', 'attention', 'which attention, and head'],
  ['entropy', 'entropy', 'of the weights, in nats'],
  ['keys', 'keys', 'exp of the entropy: as many keys, looked at equally'],
  ['distance', 'distance', 'mean distance between a token and what it looks at'],
  ['first', 'first', 'share of the weight on the first token'],
  ['before', 'before', 'share on the token before'],
  ['same', 'same', 'share on the token itself'],
  ['after', 'next', 'share on the token after'],
  ['special', 'special', 'share on tokens that are no text'],
  ['agreement', 'agreement', 'share on the keys that the given alignment names'],
  ['heaviest_agrees', 'heaviest', 'how often the heaviest key is one of these'],
];
const shares = new Set(['first', 'before', 'same', 'after', 'special', 'agreement', 'heaviest_agrees']);

function survey_cell(head, key) {
  if (key === 'name') return el('td', {}, String(head.name));
  const value = number_or_null(head[key]);
  if (value === null) return el('td', {}, '–');
  if (!shares.has(key)) return el('td', {}, value.toFixed(2));
  const level = Math.max(0, Math.min(5, Math.round(5 * value)));
  const ink = level >= 3 ? 'high' : 'low';
  return el(
      'td', {style: `background: var(--heat-${level}); color: var(--heat-ink-${ink})`},
      value.toFixed(3));
}

function draw_survey(data) {
  const heads = list(data.heads);
  const shown = columns.filter(([key]) => heads.some((head) => (head[key] ?? null) !== null));
  const body = el('tbody');
  let sorted_by = null, sign = -1;
  const fill = () => {
    const order = [...heads];
    if (sorted_by) {
      order.sort((a, b) => {
        const x = a[sorted_by] ?? -Infinity, y = b[sorted_by] ?? -Infinity;
        return sign * (x < y ? -1 : x > y ? 1 : 0);
      });
    }
    body.replaceChildren(
        ...order.map((head) => el('tr', {}, ...shown.map(([key]) => survey_cell(head, key)))));
  };
  const header = el('tr', {}, ...shown.map(([key, text, title]) => el('th', {
                                             title,
                                             scope: 'col',
                                             onclick: () => {
                                               sign = sorted_by === key ? -sign : key === 'name' ? 1 : -1;
                                               sorted_by = key;
                                               fill();
                                             },
                                           },
                                                                     text)));
  fill();
  document.getElementById('title').textContent = data.title;
  document.getElementById('main').replaceChildren(
      el('p', {class: 'soft'}, 'Means over all queries. Click a column to sort by it.'),
      el('div', {class: 'scroll'}, el('table', {}, el('thead', {}, header), body)));
}

document.getElementById('theme').append(theme_button());
draw_survey(page_data());
root.dataset.ready = 'yes';
