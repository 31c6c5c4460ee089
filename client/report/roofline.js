// The rooflines of all kernels, a set for each device.

// [{kernel, row}] of each device, by its name and its kind of times.
function rooflineGroups(kernels) {
  const groups = new Map();
  for (const kernel of kernels) {
    for (const row of list(kernel.roofline)) {
      const device = kernel.device || {};
      const name = text(device.name) + ' (' + text(device.arch) + '), ' + text(device.times);
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push({kernel, row});
    }
  }
  return groups;
}

const nameOf = ({kernel, row}) =>
  kernel.kernel + (list(kernel.roofline).length > 1 ? ' ' + row.case : '');

function movesOf(points, place) {
  const moves = [];
  for (const point of points) {
    const original = place(point.row, point.row.original);
    const best = point.row.variant ? place(point.row, point.row.variant) : null;
    if (!original) continue;
    moves.push({
      name: nameOf(point), original, best,
      words: nameOf(point) + ': ' + microseconds(point.row.original.us) +
        (best ? ', best ' + microseconds(point.row.variant.us) : ', nothing faster is proven'),
    });
  }
  return moves;
}

function boundText(side) {
  if (!side || !text(side.bound)) return 'not known';
  return side.bound + (side.share > 0 && side.bound !== 'latency' ? ' (' + Math.round(100 * side.share) + ' %)' : '');
}

function rooflineTable(caption, points) {
  const share = (row, side) =>
    (isNumber(row.floor_us) && side ? Math.round(100 * row.floor_us / side.us) + ' %' : '-');
  return pagedTable(caption, [
    {name: 'kernel', kind: 'head', cell: nameOf},
    {name: 'original', kind: 'number', cell: ({row}) => microseconds(row.original.us)},
    {name: 'best', kind: 'number', cell: ({row}) => (row.variant ? microseconds(row.variant.us) : 'none')},
    {name: 'needed traffic', kind: 'number', cell: ({row}) => si(row.necessary_bytes) + 'B'},
    {name: 'floor', kind: 'number', cell: ({row}) => microseconds(row.floor_us)},
    {name: 'floor of original', kind: 'number', cell: ({row}) => share(row, row.original)},
    {name: 'floor of best', kind: 'number', cell: ({row}) => share(row, row.variant)},
    {name: 'bound of original', cell: ({row}) => boundText(row.original)},
    {name: 'bound of best', cell: ({row}) => (row.variant ? boundText(row.variant) : '-')},
    {name: 'operations', cell: ({row}) => (row.counted ? 'counted' : 'not counted' + (row.reason ? ': ' + row.reason : ''))},
  ], points);
}

// Bytes a microsecond that memory gives, as far as anything measured says; 0: not known.
function bandwidthOf(points) {
  return Math.max(0, ...points.map(({row}) => Math.max(
    isNumber(row.floor_us) ? row.necessary_bytes / row.floor_us : 0,
    row.peaks ? Math.max(row.peaks.read || 0, row.peaks.copy || 0) : 0)));
}

function memoryChart(device, points) {
  const place = (row, side) => (side.us > 0 ? {x: row.necessary_bytes, y: row.necessary_bytes / side.us * 1e6} : null);
  const moves = movesOf(points, place);
  if (!moves.length) return null;
  const bandwidth = bandwidthOf(points) * 1e6;
  const roofs = bandwidth > 0 ? [{name: 'memory', at: () => bandwidth}] : [];
  const title = 'Memory roof on ' + device;
  return roofChart(title, 'Bytes that each kernel needs to move, by how many of them it moves a second.' +
    ' Both axes are logarithmic; higher is better.',
    'bytes that are needed', 'bytes a second', moves, roofs, () => rooflineTable(title, points));
}

function operationsChart(device, points) {
  const counted = points.filter(({row}) => row.original && row.original.operations > 0 && row.original.bytes > 0);
  const place = (row, side) => (side.operations > 0 && side.bytes > 0 && side.us > 0
    ? {x: side.operations / side.bytes, y: side.operations / side.us * 1e6} : null);
  const moves = movesOf(counted, place);
  if (!moves.length) return null;
  const bandwidth = bandwidthOf(counted) * 1e6;
  const arithmetic = (counted.find(({row}) => row.peaks) || {row: {}}).row.peaks;
  const rates = (arithmetic && arithmetic.arithmetic) || {};
  const roofs = [];
  for (const pipe of ['fp32', 'fp64']) {
    const peak = (rates[pipe] || 0) * 1e6;
    if (peak > 0) {
      roofs.push({name: pipe, knee: bandwidth > 0 ? peak / bandwidth : undefined,
        at: (x) => (bandwidth > 0 ? Math.min(peak, x * bandwidth) : peak)});
    }
  }
  if (!roofs.length && bandwidth > 0) roofs.push({name: 'memory', at: (x) => x * bandwidth});
  const title = 'Roofline on ' + device;
  return roofChart(title, 'Floating-point operations a byte of memory traffic, by operations a second.' +
    ' Both axes are logarithmic; higher is better.',
    'operations a byte', 'operations a second', moves, roofs, () => rooflineTable(title, counted));
}

function rooflineSection(kernels) {
  const section = el('section', {id: 'roofline', 'aria-labelledby': 'roofline-h'}, el('h2', {id: 'roofline-h'}, 'Roofline'));
  const groups = rooflineGroups(kernels);
  for (const [device, points] of groups) {
    const operations = operationsChart(device, points);
    if (operations) {
      section.append(operations);
    } else {
      const reason = text((points.find(({row}) => text(row.reason)) || {row: {}}).row.reason);
      section.append(el('p', {class: 'quiet'}, device.includes('CPU times')
        ? 'On the host device operations are not counted, so kernels are shown against the roof of memory alone. All times here are CPU times.'
        : 'Operations were not counted on ' + device + (reason ? ': ' + reason : '') + '. Kernels are shown against the roof of memory alone.'));
    }
    section.append(memoryChart(device, points) || '');
  }
  const without = kernels.filter((kernel) => !list(kernel.roofline).length);
  if (without.length) {
    section.append(el('h3', {}, 'Kernels without a place'), pagedTable('Kernels that are in no roofline chart, and why', [
      {name: 'kernel', kind: 'head', cell: (kernel) => kernel.kernel},
      {name: 'why', cell: (kernel) => text(kernel.no_roofline)},
    ], without));
  }
  return section;
}
