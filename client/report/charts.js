// Charts as SVG, each with its data as a table beside it. D3 gives scales, axes and lines.

const kMargin = {top: 14, right: 18, bottom: 44, left: 62};

// SI prefixes, so that 4.3e12 reads as 4.3T.
const si = d3.format('.3~s');

// A figure whose drawing follows the width that there is. `draw(svg, width, height)` gets an empty
// D3 selection. `table`: what says the same in words.
function chartFigure(title, description, draw, table) {
  const titleId = freshId('chart');
  const svg = d3.create('svg').attr('role', 'img').attr('aria-labelledby', titleId + ' ' + titleId + '-d');
  const figure = el('figure', {class: 'chart'}, el('figcaption', {}, title), svg.node());
  let drawn = 0;
  function redraw() {
    const width = Math.max(260, Math.round(figure.clientWidth) || 640);
    if (width === drawn) return;
    drawn = width;
    const height = Math.round(Math.min(420, Math.max(240, width * 0.55)));
    svg.selectAll('*').remove();
    svg.attr('viewBox', '0 0 ' + width + ' ' + height);
    svg.append('title').attr('id', titleId).text(title);
    svg.append('desc').attr('id', titleId + '-d').text(description);
    draw(svg, width, height);
  }
  // Not within the observer's own round: a drawing changes sizes again.
  new ResizeObserver(() => requestAnimationFrame(redraw)).observe(figure);
  redraw();
  return el('div', {}, figure, lazyDetails({}, 'Table of the chart: ' + title, table));
}

function axes(svg, width, height, x, y, xLabel, yLabel, xTicks, yTicks, xFormat, yFormat) {
  const bottom = height - kMargin.bottom;
  svg.append('g').selectAll('line').data(y.ticks(yTicks)).enter().append('line').attr('class', 'grid')
    .attr('x1', kMargin.left).attr('x2', width - kMargin.right).attr('y1', y).attr('y2', y);
  svg.append('g').attr('transform', 'translate(0,' + bottom + ')').call(d3.axisBottom(x).ticks(xTicks, xFormat));
  svg.append('g').attr('transform', 'translate(' + kMargin.left + ',0)').call(d3.axisLeft(y).ticks(yTicks, yFormat));
  svg.append('text').attr('x', width - kMargin.right).attr('y', height - 8).attr('text-anchor', 'end').text(xLabel);
  svg.append('text').attr('transform', 'rotate(-90)').attr('x', -kMargin.top).attr('y', 14)
    .attr('text-anchor', 'end').text(yLabel);
}

// A range around values for a logarithmic axis, never empty.
function logDomain(values) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  return [low / 2, high * 2];
}

// Names beside points, moved apart where they would lie on each other.
function labels(svg, points, x, y, width) {
  if (points.length > 15) return;
  let last = -Infinity;
  const at = points.map((point) => ({name: point.name, x: x(point.x), y: y(point.y)})).sort((a, b) => a.y - b.y);
  for (const one of at) {
    one.y = Math.max(one.y, last + 13);
    last = one.y;
    const left = one.x > width / 2;
    // About seven pixels a letter.
    const most = Math.max(4, Math.floor(((left ? one.x - kMargin.left : width - one.x) - 12) / 7));
    svg.append('text').attr('x', one.x + (left ? -9 : 9)).attr('y', one.y + 4)
      .attr('text-anchor', left ? 'end' : 'start').text(one.name.length > most ? one.name.slice(0, most - 1) + '…' : one.name);
  }
}

// `moves`: {name, original: {x, y}, best: {x, y} or null, words}; `roofs`: {name, at: x -> y,
// knee: the x at which it bends, or none}.
function roofChart(title, description, xLabel, yLabel, moves, roofs, table) {
  const draw = (svg, width, height) => {
    const points = moves.flatMap((move) => (move.best ? [move.original, move.best] : [move.original]));
    // Where roofs bend is a part of the picture.
    const xs = logDomain(points.map((point) => point.x).concat(roofs.flatMap((roof) => roof.knee || [])));
    const ys = logDomain(points.map((point) => point.y).concat(
      roofs.flatMap((roof) => points.map((point) => roof.at(point.x)).concat(roof.at(xs[1])))));
    const x = d3.scaleLog().domain(xs).range([kMargin.left, width - kMargin.right]);
    const y = d3.scaleLog().domain(ys).range([height - kMargin.bottom, kMargin.top]);
    axes(svg, width, height, x, y, xLabel, yLabel, Math.max(2, Math.round(width / 140)), 5, si, si);
    // Many short pieces: a roof that bends is straight nowhere else on logarithmic axes.
    const steps = d3.range(0, 41).map((i) => x.invert(x.range()[0] + (x.range()[1] - x.range()[0]) * i / 40));
    for (const roof of roofs) {
      svg.append('path').attr('class', 'roof')
        .attr('d', d3.line().x((at) => x(at)).y((at) => y(Math.max(ys[0], roof.at(at))))(steps))
        .append('title').text(roof.name);
      svg.append('text').attr('x', width - kMargin.right).attr('text-anchor', 'end')
        .attr('y', Math.max(kMargin.top - 3, y(roof.at(xs[1])) - 4)).text(roof.name);
    }
    for (const move of moves) {
      const group = svg.append('g');
      group.append('title').text(move.words);
      if (move.best) {
        group.append('line').attr('class', 'move').attr('x1', x(move.original.x)).attr('y1', y(move.original.y))
          .attr('x2', x(move.best.x)).attr('y2', y(move.best.y));
        group.append('circle').attr('class', 'best').attr('r', 5).attr('cx', x(move.best.x)).attr('cy', y(move.best.y));
      }
      group.append('circle').attr('class', 'original').attr('r', 4.5)
        .attr('cx', x(move.original.x)).attr('cy', y(move.original.y));
    }
    labels(svg, moves.map((move) => ({name: move.name, ...(move.best || move.original)})), x, y, width);
  };
  const key = ' Ring: the original. Dot: the best variant. Line: a roof.';
  return chartFigure(title, description + key, draw, table);
}

// `tried`: [{n, speedup}] in order; `best`: the steps [{n, speedup}] of the best so far.
function bestSoFarChart(title, description, tried, best, count, table) {
  const draw = (svg, width, height) => {
    const values = tried.concat(best).map((one) => one.speedup);
    const x = d3.scaleLinear().domain([0, Math.max(1, count)]).range([kMargin.left, width - kMargin.right]);
    const y = d3.scaleLinear().domain([0, Math.max(1.1, ...values) * 1.05]).range([height - kMargin.bottom, kMargin.top]);
    axes(svg, width, height, x, y, 'verdicts', 'speedup over the original', Math.min(count, Math.max(2, Math.round(width / 90))), 6, 'd');
    // One path for all: five thousand elements would take their time.
    svg.append('path').attr('class', 'tried')
      .attr('d', tried.map((one) => 'M' + x(one.n).toFixed(1) + ' ' + y(one.speedup).toFixed(1) + 'h0').join(''));
    svg.append('line').attr('class', 'one').attr('x1', x(0)).attr('x2', x(count)).attr('y1', y(1)).attr('y2', y(1));
    const steps = [{n: 0, speedup: 1}, ...best, {n: count, speedup: best.length ? best[best.length - 1].speedup : 1}];
    svg.append('path').attr('class', 'step')
      .attr('d', d3.line().x((one) => x(one.n)).y((one) => y(one.speedup)).curve(d3.curveStepAfter)(steps));
  };
  const key = ' Thick line: the best so far. Grey dots: single verdicts. Dashed: the original.';
  return chartFigure(title, description + key, draw, table);
}
