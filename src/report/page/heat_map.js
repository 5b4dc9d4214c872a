// The page of one drawing: choose a map, by its layer and head where it has them, and see it large.

{
  const drawing = page_data(), maps = list(drawing.maps), main = document.getElementById('main');
  document.getElementById('theme').append(theme_button());
  document.getElementById('title').textContent = drawing.title || 'Attention';

  const stage = el('section'), tables = head_tables(maps);
  const view = (map) => {
    const largest = heat_largest(map);
    return [
      el('div', {class: 'controls', style: 'justify-content:space-between'},
         el('h2', {}, map.name || 'Attention'), map.ground ? null : heat_scale(largest)),
      heat_view(map, {largest, most_cell: 40})
    ];
  };
  const controls = (...inside) =>
      main.append(el('div', {class: 'controls', style: 'margin-top:24px'}, ...inside));

  function show_heads() {
    const place = el('span', {class: 'head-pickers'}), large = el('div', {class: 'head-large'});
    const choose = (wanted, by_hand = true) => {
      const choice = head_fitted(tables, wanted);
      if (by_hand) link_head_choice(choice);
      show_head_pickers(place, [tables], choice, choose);
      large.replaceChildren(...view(head_map(tables, choice)));
      grids.mark(choice);
      draw_all();
      return large;
    };
    const grids = head_grids(tables, choose);
    controls(place);
    stage.append(el('div', {class: 'head-page'}, large, grids));
    main.append(stage);
    choose(head_choice_of_link(), false);
  }

  function show_list() {
    let chosen = 0;
    const choose = (i) => {
      chosen = (Number(i) + maps.length) % maps.length;
      picker.querySelector('select').value = String(chosen);
      stage.replaceChildren(...view(maps[chosen]));
    };
    const picker =
        dropdown('Map', maps.map((map, i) => [i, map.name || `map ${i + 1}`]), 0, choose);
    if (maps.length > 1)
      controls(
          picker, el('button', {type: 'button', onclick: () => choose(chosen - 1)}, 'Previous'),
          el('button', {type: 'button', onclick: () => choose(chosen + 1)}, 'Next'));
    main.append(stage);
    choose(0);
  }

  if (!maps.length)
    main.append(el('section', {}, el('p', {class: 'soft'}, 'This drawing holds no map.')));
  else if (has_head_grid(tables))
    show_heads();
  else
    show_list();
  draw_all();
  root.dataset.ready = 'yes';
}
