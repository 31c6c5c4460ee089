// The original's and a winner's source side by side; lines are matched by jsdiff.

// Beyond this, looking for what is equal would keep the page waiting.
const kMostComparedLines = 3000;

// [{left, right}] of indices into the two lists of lines; null where one side has nothing.
function alignedLines(left, right) {
  if (left.length + right.length > kMostComparedLines) {
    return Array.from({length: Math.max(left.length, right.length)}, (_, i) => (
      {left: i < left.length ? i : null, right: i < right.length ? i : null}));
  }
  const rows = [];
  let l = 0;
  let r = 0;
  let pendingRemoved = [];
  const flush = () => {
    for (const at of pendingRemoved) rows.push({left: at, right: null});
    pendingRemoved = [];
  };
  for (const change of Diff.diffArrays(left.map((line) => line.trim()), right.map((line) => line.trim()))) {
    for (let i = 0; i < change.value.length; i += 1) {
      if (change.removed) {
        pendingRemoved.push(l);
        l += 1;
      } else if (change.added) {
        // What was replaced stands beside what replaced it.
        rows.push({left: pendingRemoved.length ? pendingRemoved.shift() : null, right: r});
        r += 1;
      } else {
        flush();
        rows.push({left: l, right: r, same: true});
        l += 1;
        r += 1;
      }
    }
  }
  flush();
  return rows;
}

function sourceTable(original, winner, caption) {
  const left = text(original.text).replace(/\n$/, '').split('\n');
  const right = text(winner.source).replace(/\n$/, '').split('\n');
  const first = original.line || 1;
  const cell = (side, line, sign, kind) => (line === null
    ? el('td', {class: side})
    : el('td', {class: 'code ' + side + ' ' + kind}, sign ? el('span', {class: 'sign'}, sign + ' ') : '', line));
  const rows = alignedLines(left, right).map((row) => {
    const kind = row.same ? 'same' : 'changed';
    return el('tr', {class: kind},
      el('td', {class: 'at'}, row.left === null ? '' : String(first + row.left)),
      cell('left', row.left === null ? null : left[row.left], row.same ? '' : '-', row.same ? '' : 'removed'),
      el('td', {class: 'at'}, row.right === null ? '' : String(row.right + 1)),
      cell('right', row.right === null ? null : right[row.right], row.same ? '' : '+', row.same ? '' : 'added'));
  });
  const head = el('thead', {}, el('tr', {},
    el('th', {scope: 'col', class: 'at'}, 'line'), el('th', {scope: 'col'}, 'original'),
    el('th', {scope: 'col', class: 'at'}, 'line'), el('th', {scope: 'col'}, 'variant')));
  return el('div', {class: 'scroll', role: 'region', tabindex: '0', 'aria-label': caption},
    el('table', {class: 'source'}, el('caption', {}, caption + '. Lines with - are only in the original, with + only in the variant.'),
      head, el('tbody', {}, rows)));
}

function sourcePart(kernel) {
  const winners = list(kernel.winners);
  const original = kernel.original || {};
  const note = text(original.note) ? el('p', {class: 'quiet'}, 'The original is shown ' + original.note + '.') : '';
  if (!winners.length) {
    return [el('p', {}, 'Nothing faster is proven; the original runs.'), note,
      el('pre', {tabindex: '0', role: 'region', 'aria-label': 'Source of the original of ' + kernel.kernel}, text(original.text))];
  }
  return [note, ...winners.map((winner) => sourceTable(original, winner,
    'Original of ' + kernel.kernel + ' and variant ' + shortId(winner.id) + (text(winner.title) ? ', ' + winner.title : '')))];
}
