// Numbers and names as people write them.

const dash = '–';

const metric_names = {
  exact_match: 'exact match',
  cer: 'character error rate',
  wer: 'word error rate',
  bleu: 'BLEU',
  chrf: 'chrF',
  rouge_l: 'ROUGE-L',
  f1: 'F1',
  macro_f1: 'macro F1',
  mrr: 'MRR',
  mse: 'mean squared error',
  mae: 'mean absolute error',
  alignment: 'alignment accuracy',
  bpc: 'bits per character',
  map: 'mean average precision',
  ppl: 'perplexity',
};
const metric_title = (name) => metric_names[name] ?? String(name).replaceAll('_', ' ');
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// What is a share of something is written in percent; all its values being from 0 to 1 is the
// proof.
const share_names =
    /match|accuracy|alignment|f1|precision|recall|cer$|wer$|error_rate|hits?(@|_at)|correct|share/;
const lower_better = /loss|cer$|wer$|error|perplexity|ppl|^ms[e]|^mae|rmse|bpc|bits/;

function significant(value, digits) {
  const size = Math.abs(value);
  if (value === 0) return '0';
  if (size >= 1e5 || size < 1e-4) return value.toExponential(digits - 1);
  return value.toFixed(Math.min(6, Math.max(0, digits - 1 - Math.floor(Math.log10(size)))));
}

// {text(v), spread(v), difference(v), is_share} of one metric, from all values it has.
function metric_format(name, values) {
  const known = values.filter((v) => v !== null);
  const is_share =
      share_names.test(name) && known.length > 0 && known.every((v) => v >= 0 && v <= 1);
  if (is_share) {
    const points = (v) => (v * 100).toFixed(v * 100 < 0.095 && v > 0 ? 2 : 1);
    return {
      is_share,
      text: (v) => (v === null ? dash : `${points(v)}\u202f%`),
      spread: (v) => (v === null ? '' : `± ${points(v)}`),
      difference: (v) => `${points(v)} points`
    };
  }
  return {
    is_share,
    text: (v) => (v === null ? dash : significant(v, 3)),
    spread: (v) => (v === null ? '' : `± ${significant(v, 2)}`),
    difference: (v) => significant(v, 2)
  };
}

function p_text(p) {
  return p < 0.001 ? 'p < 0.001' :
                     `p = ${p >= 0.1 ? p.toFixed(2) : significant(p, p < 0.01 ? 1 : 2)}`;
}

const whole = (v) =>
    (v === null ? dash : Math.round(v).toLocaleString('en').replaceAll(',', '\u202f'));
const plain = (v) => (v === null ? dash : significant(v, 3));

// Round numbers for an axis, about `count` of them.
function nice_ticks(low, high, count) {
  const raw = (high - low) / count || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i)
    ticks.push(i * step);
  return ticks;
}
