// The same examples seen by every choice, side by side.

function examples_section(comparison) {
  const {choices, formats} = comparison;
  const examples = list(comparison.examples);
  if (!examples.length) return null;
  let chosen = 0, head_choice = head_choice_of_link(), views = [];

  const stage = el('div'), map_place = el('span', {class: 'head-pickers'});
  const previous =
      el('button',
         {type: 'button', 'aria-label': 'Previous example', onclick: () => show(chosen - 1)}, '←');
  const next =
      el('button', {type: 'button', 'aria-label': 'Next example', onclick: () => show(chosen + 1)},
         '→');
  const picker = dropdown(
      'Example',
      examples.map((example, i) => [i, `${i + 1}  ${shortened(String(example.input ?? ''), 48)}`]),
      0, (i) => show(Number(i)));

  // The same place is lit in every choice's map, which is what makes them comparable.
  const point_all = (at, from) => {
    for (const figure of stage.querySelectorAll('.heat'))
      if (figure !== from) figure.light?.(at);
  };

  // One choice's view of the example; `figure` is replaced whenever another of its maps is chosen.
  function view_of(entry) {
    const maps = list(entry.maps), tables = head_tables(maps);
    const view = {
      entry,
      tables,
      several: maps.length > 1,
      figure: el('p', {class: 'soft small'}, 'It has no attention to show.'),
      name: maps.length > 1 ? el('p', {class: 'heat-name'}) : null
    };
    view.grids =
        has_head_grid(tables) ? head_grids(tables, (choice) => choose_map(choice, view)) : null;
    return view;
  }

  function card({entry, figure, name, grids}, truth) {
    const choice = choices[entry.choice];
    const output =
        entry.output === null || entry.output === undefined ? null : String(entry.output);
    const verdict = truth === '' || output === null ? null :
        output === truth                            ? el('span', {class: 'right'}, '✓ right') :
                                                      el('span', {class: 'wrong'}, '✗ differs');
    const alignment = measured(choice, 'alignment').mean;
    return el(
        'article', {class: 'card', style: `--mine:${choice.colour}`},
        el('header', {}, el('h3', {}, dot(choice), choice.name), verdict),
        el('p', {class: 'output'}, output ?? dash), name, figure,
        alignment === null ?
            null :
            el('p', {class: 'soft small', style: 'margin-top:10px'},
               `Alignment accuracy ${
                   formats.alignment?.text(alignment) ?? significant(alignment, 3)}`),
        grids);
  }

  // The chosen map of every view, on one scale.
  function show_maps() {
    const drawn = views.filter(({tables}) => tables.length);
    const fitted = new Map(drawn.map((view) => [view, head_fitted(view.tables, head_choice)]));
    const maps = new Map(drawn.map((view) => [view, head_map(view.tables, fitted.get(view))]));
    const largest = [...maps.values()].reduce((most, map) => Math.max(most, heat_largest(map)), 0);
    for (const view of drawn) {
      const figure = heat_view(maps.get(view), {largest, on_point: point_all});
      view.figure.replaceWith(figure);
      view.figure = figure;
      if (view.name) view.name.textContent = maps.get(view).name;
      view.grids?.mark(fitted.get(view));
    }
    // The lists show the choice of a model that has it, if there is one.
    const several = drawn.filter((view) => view.several);
    const has_it = ({tables}) => tables.some(
        ({kind, at}) => kind === head_choice?.kind && at(head_choice.layer, head_choice.head || 1));
    const first = several.find(has_it) ?? several[0];
    if (first)
      show_head_pickers(
          map_place, several.map(({tables}) => tables), fitted.get(first), choose_map);
    else
      map_place.replaceChildren();
    const shades = drawn.some((view) => !maps.get(view).ground);
    scale_place.replaceChildren(shades ? heat_scale(largest) : '');
  }

  function choose_map(choice, view = null) {
    head_choice = choice;
    link_head_choice(choice);
    show_maps();
    draw_all();
    return view?.figure;
  }

  function show_example() {
    const example = examples[chosen], truth = String(example.truth ?? '');
    views = list(example.choices).filter((entry) => choices[entry.choice]).map(view_of);
    const keys = views.flatMap(({entry}) => list(entry.maps).map((map) => list(map.keys).length));
    const width = Math.max(0, ...keys) > 40       ? ' long' :
        views.some((view) => view.grids !== null) ? ' heads' :
                                                    '';
    stage.replaceChildren(
        el('dl', {class: 'example-text'}, el('dt', {}, 'Input'),
           el('dd', {}, String(example.input ?? dash)),
           ...(truth === '' ? [] : [el('dt', {}, 'Truth'), el('dd', {}, truth)])),
        el('div', {class: `looks${width}`}, ...views.map((view) => card(view, truth))));
    show_maps();
  }
  const scale_place = el('span', {style: 'margin-left:auto'});

  function show(i) {
    chosen = Math.min(examples.length - 1, Math.max(0, i));
    picker.querySelector('select').value = String(chosen);
    previous.disabled = chosen === 0;
    next.disabled = chosen === examples.length - 1;
    show_example();
  }

  show(0);
  const any = (is) => examples.some((e) => list(e.choices).some((c) => list(c.maps).some(is)));
  const matrices = any((m) => list(m.queries).length > 1), pictures = any((m) => m.ground);
  return el(
      'section', {id: 'examples'}, el('h2', {}, 'Where they looked'),
      el('p', {class: 'hint'},
         pictures ? 'What a word did not look at is veiled; point at one to see it large.' :
             matrices ? 'Rows are what was written, columns what was read; one scale for all. ' +
                 'Point at a row to see its words.' :
                    'The more a word was looked at, the stronger its colour; one scale for all.'),
      el('div', {class: 'controls'}, picker,
         examples.length > 1 ? el('span', {}, previous, ' ', next) : null, map_place, scale_place),
      stage);
}
