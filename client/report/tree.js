// The variants of a kernel as a tree: what each step changed, and what it gained.

const stepText = (step) => {
  const parameters = Object.entries(step.parameters || {}).map(([name, value]) => name + '=' + (typeof value === 'string' ? value : JSON.stringify(value)));
  return text(step.technique) + (parameters.length ? ' (' + parameters.join(', ') + ')' : '');
};

// What the variant has that its parent has not.
function changeOf(variant, parent) {
  const before = new Set(list(parent && parent.steps).map(stepText));
  const added = list(variant.steps).map(stepText).filter((step) => !before.has(step));
  const values = Object.entries(variant.values || {})
    .filter(([name, value]) => !parent || JSON.stringify((parent.values || {})[name]) !== JSON.stringify(value))
    .map(([name, value]) => name + ' = ' + JSON.stringify(value));
  const parts = added.concat(values);
  return parts.length ? parts.join('; ') : text(variant.title) || 'its source';
}

// The latest verdict that counts for each variant, by id: one for the workload of now before others.
function verdictsOf(kernel) {
  const verdicts = new Map();
  for (const row of list(kernel.evaluations)) {
    const there = verdicts.get(row.variant);
    if (!there || row.current || !there.current) verdicts.set(row.variant, row);
  }
  return verdicts;
}

function gainText(verdict, parentVerdict) {
  if (!verdict) return 'no verdict';
  if (!isNumber(verdict.speedup)) return 'not measured: ' + text(verdict.reason);
  const words = factor(verdict.speedup) + ' of the original' + (verdict.verdict === 'accepted' ? '' : ', rejected: ' + text(verdict.reason));
  if (!parentVerdict || !isNumber(parentVerdict.speedup) || parentVerdict.speedup <= 0) return words;
  const percent = 100 * (verdict.speedup / parentVerdict.speedup - 1);
  return words + ', ' + (percent < 0 ? '' : '+') + percent.toFixed(1) + ' % by this step';
}

function variantTree(kernel) {
  const verdicts = verdictsOf(kernel);
  const children = new Map();
  for (const variant of list(kernel.variants)) {
    const parent = text(variant.parent);
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(variant);
  }
  const speed = (variant) => {
    const verdict = verdicts.get(variant.id);
    return verdict && isNumber(verdict.speedup) ? verdict.speedup + (verdict.verdict === 'accepted' ? 1e6 : 0) : -1;
  };
  for (const all of children.values()) all.sort((a, b) => speed(b) - speed(a) || (a.id < b.id ? -1 : 1));
  const winners = new Set(list(kernel.winners).map((winner) => winner.id));

  function facts(variant) {
    const rows = list(variant.steps).map((step) => el('li', {}, stepText(step),
      text(step.rationale) ? ': ' + step.rationale : '',
      isNumber(step.expected_gain) ? ' (expected ' + factor(step.expected_gain) + ')' : ''));
    return el('div', {class: 'quiet'}, el('p', {}, 'Variant ' + variant.id + (text(variant.title) ? ', ' + variant.title : '')),
      rows.length ? el('ul', {}, rows) : '');
  }
  function node(variant, parent) {
    const words = [changeOf(variant, parent) + ': ' + gainText(verdicts.get(variant.id), parent && verdicts.get(parent.id)) + ' '];
    if (winners.has(variant.id)) words.push(el('span', {class: 'good'}, 'best'));
    const below = list(children.get(variant.id));
    if (below.length) words.push(el('span', {class: 'quiet'}, ' ' + plural(below.length, 'continuation', 'continuations')));
    return el('li', {}, lazyDetails({}, words, () => [facts(variant), below.length ? branch(below, variant) : null]));
  }
  // Children a page at a time: thousands may have one parent.
  function branch(variants, parent) {
    const part = el('ul', {});
    let shown = 0;
    const more = el('button', {type: 'button'});
    const last = el('li', {}, more);
    function grow() {
      const next = variants.slice(shown, shown + kPageRows).map((variant) => node(variant, parent));
      last.remove();
      part.append(...next);
      shown += next.length;
      if (shown < variants.length) {
        more.textContent = 'Show ' + Math.min(kPageRows, variants.length - shown) + ' more of ' + variants.length + ' variants';
        part.append(last);
      }
      return next[0];
    }
    more.addEventListener('click', () => grow().querySelector('summary').focus());
    grow();
    return part;
  }
  const first = list(children.get(''));
  if (!first.length) return el('p', {}, 'No variant was evaluated yet.');
  const tree = branch(first, null);
  tree.className = 'tree';
  tree.setAttribute('aria-label', 'Variants of ' + kernel.kernel + ', made from the original');
  return tree;
}
