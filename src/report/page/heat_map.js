// The page of one drawing: choose a map, see it large, or all of them at once.

{
  const drawing = page_data(), maps = list(drawing.maps), main = document.getElementById('main');
  document.getElementById('theme').append(theme_button());
  document.getElementById('title').textContent = drawing.title || 'Attention';

  const stage = el('section');
  const show = (i) => {
    const largest = heat_largest(maps[i]);
    stage.replaceChildren(
        el('div', {class: 'controls', style: 'justify-content:space-between'},
           el('h2', {}, maps[i].name || 'Attention'), heat_scale(largest)),
        heat_view(maps[i], {largest, most_cell: 40}));
  };
  if (maps.length > 1) {
    let chosen = 0;
    const choose = (i) => {
      chosen = (Number(i) + maps.length) % maps.length;
      picker.querySelector('select').value = String(chosen);
      show(chosen);
    };
    const picker =
        dropdown('Map', maps.map((map, i) => [i, map.name || `map ${i + 1}`]), 0, choose);
    main.append(
        el('div', {class: 'controls', style: 'margin-top:24px'}, picker,
           el('button', {type: 'button', onclick: () => choose(chosen - 1)}, 'Previous'),
           el('button', {type: 'button', onclick: () => choose(chosen + 1)}, 'Next')));
  }
  main.append(stage);
  if (maps.length)
    show(0);
  else
    stage.append(el('p', {class: 'soft'}, 'This drawing holds no map.'));
  draw_all();
  root.dataset.ready = 'yes';
}
