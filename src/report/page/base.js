// What every page shares: counting errors, making elements, the data, light and dark.
'use strict';

const root = document.documentElement;
root.dataset.errors = '0';
for (const kind of ['error', 'unhandledrejection']) {
  window.addEventListener(kind, () => {
    root.dataset.errors = String(1 + Number(root.dataset.errors));
  });
}

// el("p", {class: "soft"}, "text", other_element): text is only ever set as text, as it is user
// data.
const svg_tags = new Set(['svg', 'g', 'path', 'line', 'rect', 'circle', 'text', 'title']);
function el(tag, attributes = {}, ...children) {
  const made = svg_tags.has(tag) ? document.createElementNS('http://www.w3.org/2000/svg', tag) :
                                   document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on'))
      made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? '' : String(value));
    }
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

const page_data = () => JSON.parse(document.getElementById('data').textContent) ?? {};
const list = (value) => (Array.isArray(value) ? value : []);
const number_or_null = (value) =>
    (typeof value === 'number' && Number.isFinite(value) ? value : null);

// Buttons of which one is pressed.
function segments(label, options, chosen, on_choose) {
  const buttons = options.map(
      ([value, text]) =>
          el('button', {
            type: 'button',
            'aria-pressed': String(value === chosen),
            onclick: (event) => {
              for (const button of buttons)
                button.setAttribute('aria-pressed', String(button === event.currentTarget));
              on_choose(value);
            },
          },
             text));
  return el('div', {class: 'segments', role: 'group', 'aria-label': label}, ...buttons);
}

function dropdown(label, options, chosen, on_choose) {
  const select =
      el('select', {onchange: () => on_choose(select.value)},
         ...options.map(
             ([value, text]) =>
                 el('option', {value, selected: String(value) === String(chosen)}, text)));
  return el('label', {}, label, select);
}

// Colours come from the style sheet; what is painted on a canvas has to be painted anew.
const on_theme = [];
function set_theme(theme) {
  if (root.dataset.theme === theme) return;
  root.dataset.theme = theme;
  for (const redraw of on_theme) redraw();
}
const system_dark = window.matchMedia('(prefers-color-scheme: dark)');
// An address may ask for one: page.html#dark
const wanted_theme = () =>
    location.hash.slice(1).split('&').find((part) => ['dark', 'light'].includes(part)) ??
    (system_dark.matches ? 'dark' : 'light');
set_theme(wanted_theme());
system_dark.addEventListener('change', () => set_theme(wanted_theme()));

function theme_button() {
  const button = el('button', {
    type: 'button',
    class: 'no-print',
    onclick: () => {
      set_theme(root.dataset.theme === 'dark' ? 'light' : 'dark');
    }
  });
  const name = () => {
    button.textContent = root.dataset.theme === 'dark' ? 'Light' : 'Dark';
  };
  on_theme.push(name);
  name();
  return button;
}

// Paper is white whatever the screen is.
let theme_before_print = null;
window.addEventListener('beforeprint', () => {
  theme_before_print = root.dataset.theme;
  set_theme('light');
});
window.addEventListener('afterprint', () => set_theme(theme_before_print ?? wanted_theme()));

// Draws to the element's width, and again whenever that changes; draw_all() draws what is new at
// once, for those who do not wait for a frame: printers and readers of the page's elements.
let drawn_to_width = [];
function draw_to_width(element, draw) {
  let drawn = 0;
  const update = (most = Infinity) => {
    const width = Math.min(most, Math.floor(element.clientWidth));
    if (width > 0 && width !== drawn) draw(drawn = width);
  };
  // What has left the page is let go, or a page that is used for long would keep all it ever
  // showed.
  drawn_to_width = drawn_to_width.filter((one) => one.element.isConnected || !one.was_drawn());
  drawn_to_width.push({element, update, was_drawn: () => drawn > 0});
  // In the next frame: drawing changes heights, which the observer may not see change under itself.
  new ResizeObserver(() => requestAnimationFrame(() => update())).observe(element);
}
function draw_all(most_in_card) {
  for (const {element, update} of drawn_to_width) {
    if (element.isConnected) update(element.closest('.card') ? most_in_card : undefined);
  }
}
const card_on_paper = 290;  // pixels inside a card where two share the width of a sheet
window.addEventListener('beforeprint', () => draw_all(card_on_paper));
window.addEventListener('afterprint', () => draw_all());
