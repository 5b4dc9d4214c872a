// The same examples seen by every choice, side by side.

function examples_section(comparison) {
  const {choices, formats} = comparison;
  const examples = list(comparison.examples);
  if (!examples.length) return null;
  const maps_of = (entry) => list(entry.maps);
  const map_name = (map, i) => String(map.name || `map ${i + 1}`);
  let chosen = 0, map_chosen = null;

  const stage = el('div'), map_place = el('span');
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

  function card(entry, truth, largest) {
    const choice = choices[entry.choice];
    if (!choice) return null;
    const maps = maps_of(entry),
          map = maps.find((m, i) => map_name(m, i) === map_chosen) ?? maps[0];
    const output =
        entry.output === null || entry.output === undefined ? null : String(entry.output);
    const verdict = truth === '' || output === null ? null :
        output === truth                            ? el('span', {class: 'right'}, '✓ right') :
                                                      el('span', {class: 'wrong'}, '✗ differs');
    const alignment = measured(choice, 'alignment').mean;
    return el(
        'article', {class: 'card', style: `--mine:${choice.colour}`},
        el('header', {}, el('h3', {}, dot(choice), choice.short), verdict),
        el('p', {class: 'output'}, output ?? dash),
        map ? heat_view(map, {largest, on_point: point_all}) :
              el('p', {class: 'soft small'}, 'It has no attention to show.'),
        alignment === null ?
            null :
            el('p', {class: 'soft small', style: 'margin-top:10px'},
               `Alignment accuracy ${
                   formats.alignment?.text(alignment) ?? significant(alignment, 3)}`));
  }

  function show_maps() {
    const example = examples[chosen], entries = list(example.choices),
          truth = String(example.truth ?? '');
    const shown_maps = entries.flatMap((entry) => {
      const maps = maps_of(entry);
      return maps.filter((m, i) => map_name(m, i) === map_chosen).concat(maps).slice(0, 1);
    });
    const largest = shown_maps.reduce((most, map) => Math.max(most, heat_largest(map)), 0);
    const long = shown_maps.some((map) => list(map.keys).length > 40);
    stage.replaceChildren(
        el('dl', {class: 'example-text'}, el('dt', {}, 'Input'),
           el('dd', {}, String(example.input ?? dash)),
           ...(truth === '' ? [] : [el('dt', {}, 'Truth'), el('dd', {}, truth)])),
        el('div', {class: `looks${long ? ' long' : ''}`},
           ...entries.map((entry) => card(entry, truth, largest)).filter(Boolean)));
    scale_place.replaceChildren(shown_maps.length ? heat_scale(largest) : '');
  }
  const scale_place = el('span', {style: 'margin-left:auto'});

  function show(i) {
    chosen = Math.min(examples.length - 1, Math.max(0, i));
    picker.querySelector('select').value = String(chosen);
    previous.disabled = chosen === 0;
    next.disabled = chosen === examples.length - 1;
    const names = [...new Set(
        list(examples[chosen].choices).flatMap((entry) => maps_of(entry).map(map_name)))];
    if (!names.includes(map_chosen)) map_chosen = names[0] ?? null;
    map_place.replaceChildren(
        ...(names.length > 1 ? [dropdown(
                                   'Map', names.map((name) => [name, name]), map_chosen,
                                   (name) => {
                                     map_chosen = name;
                                     show_maps();
                                   })] :
                               []));
    show_maps();
  }

  show(0);
  const matrices = examples.some(
      (e) => list(e.choices).some((c) => maps_of(c).some((m) => list(m.queries).length > 1)));
  return el(
      'section', {id: 'examples'}, el('h2', {}, 'Where they looked'),
      el('p', {class: 'hint'},
         matrices ? 'Rows are what was written, columns what was read; one scale for all. ' +
                 'Point at a row to see its words.' :
                    'The more a word was looked at, the stronger its colour; one scale for all.'),
      el('div', {class: 'controls'}, picker,
         examples.length > 1 ? el('span', {}, previous, ' ', next) : null, map_place, scale_place),
      stage);
}
