// All about one kernel; made when its part of the page is opened.

// Evidence that speaks of the kernel's workload of now; all of it where there is none.
function countedVerdicts(kernel) {
  const all = list(kernel.evaluations);
  const current = all.filter((row) => row.current);
  return current.length ? current : all;
}

function bestSoFar(kernel) {
  const verdicts = countedVerdicts(kernel);
  const tried = [];
  const best = [];
  verdicts.forEach((row, i) => {
    if (!isNumber(row.speedup)) return;
    tried.push({n: i + 1, speedup: row.speedup});
    const before = best.length ? best[best.length - 1].speedup : 1;
    if (row.verdict === 'accepted' && row.speedup > before) best.push({n: i + 1, speedup: row.speedup, row});
  });
  return {verdicts, tried, best};
}

function curvePart(kernel) {
  const {verdicts, tried, best} = bestSoFar(kernel);
  if (!tried.length) {
    return el('p', {}, verdicts.length ? 'Nothing was measured: all variants were rejected before.' : 'Nothing was evaluated yet.');
  }
  const title = 'Best so far of ' + kernel.kernel + ', ' + text((kernel.device || {}).times);
  const description = 'Speedup over the original after each of ' + plural(verdicts.length, 'verdict', 'verdicts') + ', from ' +
    verdicts[0].date + ' to ' + verdicts[verdicts.length - 1].date + '.';
  const top = best.length ? best[best.length - 1].speedup : 0;
  const note = list(kernel.winners).length && top > kernel.speedup
    ? el('p', {class: 'quiet'}, 'What is used must also be faster than the one before it, by 2 % and for certain: here it is ' + factor(kernel.speedup) + '.') : '';
  return [note, bestSoFarChart(title, description, tried, best, verdicts.length, () => pagedTable(title, [
    {name: 'verdict', kind: 'head', cell: (one) => String(one.n)},
    {name: 'date', cell: (one) => one.row.date},
    {name: 'speedup', kind: 'number', cell: (one) => factor(one.speedup)},
    {name: 'interval', kind: 'number', cell: (one) => interval(one.row.interval)},
    {name: 'variant', cell: (one) => shortId(one.row.variant)},
  ], best))];
}

function evidenceDetails(row) {
  const cases = list(row.cases).filter((one) => one.admitted !== false);
  const outside = list(row.cases).filter((one) => one.admitted === false).map((one) => one.name);
  const checks = row.checks || {};
  return [
    text(row.detail) ? el('p', {}, row.detail) : '',
    list(checks.failed).length ? el('ul', {}, checks.failed.map((check) => el('li', {}, 'failed ' + check.name + (text(check.detail) ? ': ' + check.detail : '')))) : '',
    el('p', {class: 'quiet'}, 'Passed: ' + (list(checks.passed).join(', ') || 'nothing') + '.'),
    cases.length ? el('ul', {}, cases.map((one) => el('li', {}, one.name + ': ' + microseconds(one.original_us) + ' to ' + microseconds(one.variant_us) +
      ', ' + factor(one.speedup) + ' ' + interval(one.interval) + ', ' + plural(one.samples, 'sample', 'samples') + (text(one.l2) ? ', ' + one.l2 + ' cache' : '')))) : '',
    outside.length ? el('p', {}, 'Outside the guard: ' + outside.join(', ') + '.') : '',
    el('p', {class: 'quiet'}, 'Variant ' + row.variant + ', built by ' + text(row.toolchain) + ' for ' + text(row.target) + ', ' + text(row.times) + '.' +
      (row.current ? '' : ' For another workload than the one of now.')),
  ];
}

function evidencePart(kernel) {
  const rows = list(kernel.evaluations).slice().reverse();
  if (!rows.length) return el('p', {}, 'No variant was evaluated yet.');
  const titles = new Map(list(kernel.variants).map((variant) => [variant.id, text(variant.title)]));
  const table = pagedTable('Verdicts on variants of ' + kernel.kernel + ', the newest first', [
    {name: 'variant', kind: 'head', cell: (row) => [shortId(row.variant) + ' ', el('span', {class: 'quiet'}, titles.get(row.variant) || '')]},
    {name: 'verdict', cell: (row) => (row.verdict === 'accepted' ? el('span', {class: 'good'}, 'accepted') : 'rejected')},
    {name: 'reason', cell: (row) => text(row.reason)},
    {name: 'speedup', kind: 'number', cell: (row) => factor(row.speedup)},
    {name: 'interval', kind: 'number', cell: (row) => interval(row.interval)},
    {name: 'checks', kind: 'number', cell: (row) => list((row.checks || {}).passed).length + ' passed' +
      (list((row.checks || {}).failed).length ? ', ' + row.checks.failed.length + ' failed' : '')},
    {name: 'date', cell: (row) => text(row.date)},
    {name: 'device', cell: (row) => text(row.device) + ' (' + text(row.arch) + '), ' + text(row.times)},
    {name: 'driver', cell: (row) => text(row.driver)},
    {name: 'more', cell: (row) => lazyDetails({}, ['details', el('span', {class: 'hidden'}, ' of ' + shortId(row.variant) + ', ' + text(row.date))], () => evidenceDetails(row))},
  ], rows);

  const verdict = el('select', {id: freshId('verdict')},
    ['all', 'accepted', 'rejected'].concat([...new Set(rows.map((row) => text(row.reason)).filter((reason) => reason))].sort())
      .map((name) => el('option', {value: name}, name)));
  const words = el('input', {id: freshId('words'), type: 'search'});
  const apply = () => {
    const wanted = words.value.toLowerCase();
    table.rows(rows.filter((row) => (verdict.value === 'all' || row.verdict === verdict.value || row.reason === verdict.value) &&
      (!wanted || (row.variant + ' ' + (titles.get(row.variant) || '') + ' ' + text(row.detail)).toLowerCase().includes(wanted))));
  };
  verdict.addEventListener('change', apply);
  words.addEventListener('input', apply);
  return [el('div', {class: 'controls'},
    el('div', {}, el('label', {for: verdict.id}, 'Verdict or reason'), verdict),
    el('div', {}, el('label', {for: words.id}, 'Variants whose id, title or detail has'), words)), table];
}

function winnerPart(kernel) {
  const device = kernel.device || {};
  const winners = list(kernel.winners);
  if (!winners.length) return el('p', {}, 'The original runs' + (text(kernel.why_not) ? ': ' + kernel.why_not : '.'));
  const parts = [el('p', {}, el('span', {class: 'good'}, factor(kernel.speedup) + ' ' + interval(kernel.interval)), ' ' + text(kernel.strategy) +
    (kernel.published ? ', published' : '') + '. Heaviest case: ' + microseconds(kernel.original_us) + ' before, ' + microseconds(kernel.variant_us) + ' after, ' +
    text(device.times) + ' on ' + text(device.name) + ' (' + text(device.arch) + ').')];
  if (text(kernel.why)) parts.push(el('p', {}, kernel.why));
  for (const winner of winners) {
    const evaluation = winner.evaluation || {};
    parts.push(lazyDetails({}, 'Evidence of variant ' + shortId(winner.id), () => [
      el('p', {}, 'Proven ' + text(evaluation.date) + ' with ' + text(evaluation.driver) + '. It runs where: ', el('code', {}, text(winner.guard) || 'always')),
      pagedTable('Checks of variant ' + shortId(winner.id), [
        {name: 'check', kind: 'head', cell: (check) => text(check.name)},
        {name: 'result', cell: (check) => (check.passed ? 'passed' : 'failed')},
        {name: 'detail', cell: (check) => text(check.detail)},
      ], list(evaluation.checks)),
    ]));
  }
  return parts;
}

function notesPart(kernel) {
  const rows = [
    ...list(kernel.warnings).map((warning) => ({what: 'warning', name: '', why: warning})),
    ...list(kernel.not_measured).map((one) => ({what: one.verdict, name: one.title, why: one.reason})),
    ...list(kernel.declined).map((one) => ({what: 'not applicable', name: one.technique, why: one.reason})),
    ...list(kernel.dropped).map((one) => ({what: 'not built', name: one.count + ' candidates', why: 'beyond what the device has: ' + one.limit})),
    ...list((kernel.models || {}).lines).map((line) => ({what: 'language model', name: '', why: line})),
  ];
  if (!rows.length) return null;
  return lazyDetails({}, 'What was not measured, and warnings (' + rows.length + ')', () => pagedTable('Not measured, and warnings, of ' + kernel.kernel, [
    {name: 'what', kind: 'head', cell: (row) => text(row.what)},
    {name: 'name', cell: (row) => text(row.name)},
    {name: 'why', cell: (row) => text(row.why)},
  ], rows));
}

function kernelPart(kernel, index) {
  const state = isNumber(kernel.speedup) ? factor(kernel.speedup) : 'original';
  const summary = [el('h3', {}, kernel.kernel), ' ', el('span', {class: 'quiet'}, kernel.shown_file + ':' + kernel.line + ', ' + state)];
  return lazyDetails({class: 'kernel', id: 'kernel-' + index}, summary, () => [
    winnerPart(kernel),
    el('h4', {}, 'Best so far'), curvePart(kernel),
    el('h4', {}, 'Variants and what each step gained'), variantTree(kernel),
    el('h4', {}, 'Source'), lazyDetails({}, 'Original and winner side by side', () => sourcePart(kernel)),
    el('h4', {}, 'Evidence'), evidencePart(kernel),
    notesPart(kernel),
  ].flat());
}
