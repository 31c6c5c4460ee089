// The page, from the document that stands in it.

function summaryTable(kernels) {
  return pagedTable('Tuned kernels of the project', [
    {name: 'kernel', kind: 'head', cell: (kernel) => el('a', {href: '#kernel-' + kernel.index}, kernel.kernel)},
    {name: 'where', cell: (kernel) => kernel.shown_file + ':' + kernel.line},
    {name: 'state', cell: (kernel) => text(kernel.state)},
    {name: 'before', kind: 'number', cell: (kernel) => microseconds(kernel.original_us)},
    {name: 'after', kind: 'number', cell: (kernel) => microseconds(kernel.variant_us)},
    {name: 'speedup', kind: 'number', cell: (kernel) => (isNumber(kernel.speedup) ? factor(kernel.speedup) + ' ' + interval(kernel.interval) : '-')},
    {name: 'tried', kind: 'number', cell: (kernel) => String(list(kernel.evaluations).length)},
    {name: 'times', cell: (kernel) => text((kernel.device || {}).times) + ' on ' + text((kernel.device || {}).name)},
    {name: 'what won, or why nothing did', cell: (kernel) => text(kernel.strategy) || text(kernel.why_not) || text(kernel.why)},
  ], kernels);
}

function moneySection(report) {
  const models = report.models || {};
  const section = el('section', {id: 'money', 'aria-labelledby': 'money-h'}, el('h2', {id: 'money-h'}, 'Money spent on language models'));
  const spent = models.spent || {};
  const ofKernels = report.kernels.filter((kernel) => kernel.model_dollars > 0);
  const total = ofKernels.reduce((sum, kernel) => sum + kernel.model_dollars, 0);
  const totals = list(models.totals);
  if (!totals.length && !ofKernels.length) {
    section.append(el('p', {}, 'No language model was asked: $0.'));
    return section;
  }
  section.append(el('p', {}, 'On kernels of this project: ' + dollars(total) + '. On all projects of this machine: ' +
    dollars(spent.day_dollars) + ' on the day of this report, ' + dollars(spent.month_dollars) + ' in its month.'));
  section.append(pagedTable('Money by kernel', [
    {name: 'kernel', kind: 'head', cell: (kernel) => kernel.kernel},
    {name: 'dollars', kind: 'number', cell: (kernel) => dollars(kernel.model_dollars)},
  ], ofKernels));
  section.append(pagedTable('Money by model, on all projects of this machine', [
    {name: 'model', kind: 'head', cell: (row) => text(row.model)},
    {name: 'service', cell: (row) => text(row.provider)},
    {name: 'requests', kind: 'number', cell: (row) => String(row.requests)},
    {name: 'answers', kind: 'number', cell: (row) => String(row.answers)},
    {name: 'tokens in', kind: 'number', cell: (row) => String(row.input_tokens)},
    {name: 'tokens out', kind: 'number', cell: (row) => String(row.output_tokens)},
    {name: 'dollars', kind: 'number', cell: (row) => dollars(row.dollars)},
    {name: 'gain of its variants', kind: 'number', cell: (row) => (isNumber(row.gain) && row.gain ? factor(Math.exp(row.gain)) : '-')},
  ], totals));
  return section;
}

// A link to a kernel opens its part.
function openNamed() {
  const target = /^#kernel-\d+$/.test(location.hash) ? document.getElementById(location.hash.slice(1)) : null;
  if (!target) return;
  target.fill();
  target.open = true;
  target.querySelector('summary').focus();
}

function main() {
  const report = JSON.parse(document.getElementById('data').textContent);
  report.kernels = list(report.kernels);
  const root = text(report.project) + '/';
  report.kernels.forEach((kernel, index) => {
    kernel.index = index;
    kernel.shown_file = text(kernel.file).startsWith(root) ? kernel.file.slice(root.length) : text(kernel.file);
  });
  const won = report.kernels.filter((kernel) => list(kernel.winners).length).length;
  const cpu = report.kernels.some((kernel) => (kernel.device || {}).times === 'CPU times');
  document.getElementById('head').append(
    el('h1', {}, 'cuPilot report: ' + (text(report.project).split('/').pop() || 'all projects')),
    el('p', {}, plural(report.kernels.length, 'tagged kernel', 'tagged kernels') + ', ' + won + ' with a variant that is proven faster. Written ' +
      text(report.date) + ' by cuPilot ' + text(report.version) + '.'),
    cpu ? el('p', {}, 'Times of the host device are CPU times: they say nothing of a GPU.') : '',
    el('nav', {'aria-label': 'Parts of the report'}, el('ul', {}, [['summary', 'Kernels'], ['roofline', 'Roofline'], ['money', 'Money'], ['details', 'Each kernel']]
      .map(([id, name]) => el('li', {}, el('a', {href: '#' + id}, name))))));
  const content = document.getElementById('content');
  content.append(el('section', {id: 'summary', 'aria-labelledby': 'summary-h'}, el('h2', {id: 'summary-h'}, 'Kernels'),
    report.kernels.length ? summaryTable(report.kernels) : el('p', {}, 'The project has no tagged kernel that the daemon has read: write // cupilot: tune above one and build.')));
  if (report.kernels.length) content.append(rooflineSection(report.kernels));
  content.append(moneySection(report));
  const parts = report.kernels.map(kernelPart);
  if (parts.length) {
    content.append(el('section', {id: 'details', 'aria-labelledby': 'details-h'}, el('h2', {id: 'details-h'}, 'Each kernel'), parts));
  }
  if (parts.length === 1) {
    parts[0].fill();
    parts[0].open = true;
  }
  addEventListener('hashchange', openNamed);
  openNamed();
  // What is closed would be missing on paper; rows stay those that are shown.
  addEventListener('beforeprint', () => {
    for (const part of parts) {
      part.fill();
      part.open = true;
    }
  });
  document.documentElement.dataset.ready = 'true';
  performance.mark('cupilot-ready');
}

main();
