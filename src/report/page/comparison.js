// The comparison page: reads the data, states the finding, and puts the sections in their places.

// The data as the sections want it: no part missing, choices with a colour.
function prepared(data) {
  const choices = list(data.choices).map((choice, index) => ({
                                           ...choice,
                                           index,
                                           name: String(choice.name ?? `choice ${index + 1}`),
                                           colour: `var(--c${index % 8})`,
                                           dashed: index >= 8
                                         }));
  const metric = {
    name: data.metric?.name ?? Object.keys(choices[0]?.metrics ?? {})[0] ?? 'metric',
    higher_is_better: data.metric?.higher_is_better ?? true
  };
  const metrics = [...new Set([metric.name, ...list(data.metrics)])];
  const formats =
      Object.fromEntries(metrics.map((name) => [name, metric_format(name, choices.flatMap((c) => {
                                                  const {mean, values} = measured(c, name);
                                                  return [mean, ...values];
                                                }))]));
  return {...data, choices, metric, metrics, formats, seeds: list(data.seeds)};
}

// One sentence, as pieces: the winner, by how much, and whether that is more than chance.
function finding({choices, metric, formats}) {
  if (!choices.length) return ['There is nothing to compare yet.'];
  const format = formats[metric.name], title = metric_title(metric.name);
  const mean = (choice) => measured(choice, metric.name).mean;
  const sign = metric.higher_is_better ? 1 : -1;
  const ranked = choices.filter((c) => mean(c) !== null).sort((a, b) => sign * (mean(b) - mean(a)));
  const best = ranked.find((c) => c.best) ?? ranked[0];
  if (!best) return [choices.length === 1 ? 'The run did not finish.' : 'No choice has finished.'];
  const winner = el('mark', {style: `--mine:${best.colour}`}, best.name);
  const second = ranked.find((c) => c !== best);
  if (!second) return [winner, ` reaches ${format.text(mean(best))} ${title}.`];
  const ahead = sign * (mean(best) - mean(second)), p = number_or_null(second.p_value);
  const by = `${format.difference(Math.abs(ahead))} ${
      metric.higher_is_better ? 'ahead of' : 'below'} ${second.name}`;
  if (ahead === 0)
    return [winner, ` and ${second.name} are level at ${format.text(mean(best))} ${title}.`];
  const leads = ` leads with ${format.text(mean(best))} ${title}, ${by}`;
  switch (verdict_of(second)) {
    case 'worse':
      return [
        winner,
        ` wins with ${format.text(mean(best))} ${title}, ${by}: beyond chance (${p_text(p)}).`
      ];
    case 'tie':
      return [winner, `${leads}, but that may be chance (${p_text(p)}).`];
    case 'too_few_seeds':
      return [winner, `${leads}, but there are too few seeds to tell.`];
    case 'one_seed_differs':
      return [winner, `${leads}: beyond chance on these examples, but on one seed only.`];
    case 'one_seed_alike':
      return [winner, `${leads}, on one seed: that may be chance.`];
    default:
      return [winner, `${leads}; whether by chance is not known.`];
  }
}

function lede({task, data, budget, choices, seeds}) {
  const count = (n, one, many) => `${n} ${n === 1 ? one : many}`;
  return [
    task && data ? `${capital(task)} on ${data}` :
        task ? capital(task) :
               data,
    choices.length ? count(choices.length, 'choice', 'choices') : null,
    seeds.length ? count(seeds.length, 'seed', 'seeds') : null, budget
  ].filter(Boolean)
      .join(' · ');
}

function command_box(command) {
  const button =
      el('button', {
        type: 'button',
        onclick: async () => {
          try {
            await navigator.clipboard.writeText(command);
            button.textContent = 'Copied';
          } catch {  // a page from disk may not be allowed to
            getSelection().selectAllChildren(code);
            button.textContent = 'Selected';
          }
          setTimeout(() => {
            button.textContent = 'Copy';
          }, 1600);
        }
      },
         'Copy');
  const code = el('code', {}, command);
  return el('div', {class: 'command'}, code, button);
}

function made_section(comparison) {
  const facts = [
    ['Data', comparison.data], ['Budget', comparison.budget],
    ['Seeds', comparison.seeds.join(', ')], ['Best model', comparison.best_run],
    ['Machine', comparison.machine], ['Fovea', comparison.version], ['Made', comparison.made]
  ].filter(([, value]) => value);
  if (!facts.length && !comparison.command) return null;
  const compared = comparison.choices.length > 1;
  return el(
      'section', {id: 'made'}, el('h2', {style: 'margin-bottom:16px'}, 'How it was made'),
      comparison.command ? command_box(String(comparison.command)) : null,
      el('dl', {class: 'made'},
         ...facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, String(value))])),
      compared ?
          el('p', {class: 'method'},
             'Every choice had the same budget, the same data in the same order and the ' +
                 'same seeds. p says how often equal choices would show a difference to the ' +
                 'best as large, with other seeds and other test examples, and with the best ' +
                 'picked from as many. Below 0.05 a choice is called worse. One seed cannot ' +
                 'tell: then only the test examples are judged.') :
          null);
}

// What a search adds: lists of sentences, each under its title.
function notes_sections({notes}) {
  return list(notes).map(
      ({title, lines}) => el(
          'section', {class: 'notes'}, el('h2', {style: 'margin-bottom:16px'}, String(title ?? '')),
          el('ul', {}, ...list(lines).map((line) => el('li', {}, String(line))))));
}

{
  const comparison = prepared(page_data());
  document.getElementById('brand').textContent =
      ['Fovea', comparison.title].filter(Boolean).join(' · ');
  document.getElementById('theme').append(theme_button());
  document.getElementById('finding').append(...finding(comparison));
  document.getElementById('lede').textContent = lede(comparison);
  const sections = comparison.choices.length ?
      [
        table_section(comparison), lengths_section(comparison), cost_section(comparison),
        curves_section(comparison), classes_section(comparison), examples_section(comparison)
      ] :
      [el('section', {},
          el('p', {class: 'nothing'},
             'Nothing to compare yet: no choice has been trained. ' +
                 'This page fills once the first run ends.'))];
  document.getElementById('main').append(
      ...[...sections, ...notes_sections(comparison), made_section(comparison)].filter(Boolean));
  document.getElementById('foot').textContent =
      ['Made with Fovea', comparison.version].filter(Boolean).join(' ');
  draw_all();
  root.dataset.ready = 'yes';
}
