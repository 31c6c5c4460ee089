// What all parts of the page use: elements, numbers as text, tables that grow when asked.
// Text from the document only ever becomes text nodes and attributes that hold no code.

const kPageRows = 50;

function el(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === 'on') {
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    } else if (value !== undefined && value !== null && value !== false) {
      element.setAttribute(key, value === true ? '' : value);
    }
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== '') element.append(child);
  }
  return element;
}

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);
const list = (value) => (Array.isArray(value) ? value : []);
const text = (value) => (typeof value === 'string' ? value : '');

function digits(value, count) {
  return Number(value.toPrecision(count)).toString();
}
function microseconds(us) {
  if (!isNumber(us)) return '-';
  if (us < 1000) return digits(us, 3) + ' µs';
  return us < 1e6 ? digits(us / 1000, 3) + ' ms' : digits(us / 1e6, 3) + ' s';
}
function factor(value) {
  return isNumber(value) ? value.toFixed(2) + 'x' : '-';
}
function interval(pair) {
  return list(pair).length === 2 ? '[' + pair.map((one) => one.toFixed(2)).join(', ') + ']' : '';
}
function dollars(value) {
  return '$' + (isNumber(value) ? value : 0).toFixed(4);
}
function plural(count, one, many) {
  return count + ' ' + (count === 1 ? one : many);
}
function shortId(id) {
  return text(id).slice(0, 12);
}

let lastId = 0;
function freshId(prefix) {
  lastId += 1;
  return prefix + '-' + lastId;
}

// A part that is made when it is first opened.
function lazyDetails(attributes, summary, fill) {
  const details = el('details', attributes, el('summary', {}, summary));
  let filled = false;
  details.fill = () => {
    if (filled) return;
    filled = true;
    details.append(...[fill()].flat().filter((part) => part));
  };
  details.addEventListener('toggle', () => {
    if (details.open) details.fill();
  });
  return details;
}

// `columns`: {name, cell: row -> text or element, kind?: 'number' | 'head'}. The first rows at once,
// the others by a button; rows(list) shows another list from its beginning.
function pagedTable(caption, columns, rows) {
  const body = el('tbody', {role: 'rowgroup'});
  const head = el('tr', {role: 'row'},
    columns.map((column) => el('th', {scope: 'col', role: 'columnheader'}, column.name)));
  const table = el('table', {class: 'cards', role: 'table'}, el('caption', {}, caption),
    el('thead', {role: 'rowgroup'}, head), body);
  const state = el('p', {class: 'quiet', role: 'status'});
  const more = el('button', {type: 'button'});
  let current = rows;
  let shown = 0;

  const rowOf = (row) => el('tr', {role: 'row'}, columns.map((column) => {
    const attributes = column.kind === 'head' ? {scope: 'row', role: 'rowheader'} : {
      role: 'cell', 'data-label': column.name, class: column.kind,
    };
    return el(column.kind === 'head' ? 'th' : 'td', attributes, column.cell(row));
  }));
  function showMore(count) {
    const end = Math.min(current.length, shown + count);
    body.append(...current.slice(shown, end).map(rowOf));
    shown = end;
    state.textContent = current.length === 0 ? 'No rows.'
      : shown < current.length ? 'Rows 1 to ' + shown + ' of ' + current.length + '.' : '';
    more.hidden = shown >= current.length;
    more.textContent = 'Show ' + Math.min(kPageRows, current.length - shown) + ' more rows of: ' + caption;
  }
  more.addEventListener('click', () => {
    const first = shown;
    showMore(kPageRows);
    // Who pressed the button goes on reading where the new rows begin.
    const row = body.children[first];
    if (row) {
      row.tabIndex = -1;
      row.focus();
    }
  });
  showMore(kPageRows);
  const part = el('div', {}, el('div', {class: 'scroll', role: 'region', tabindex: '0', 'aria-label': caption}, table),
    state, more);
  part.rows = (others) => {
    current = others;
    shown = 0;
    body.replaceChildren();
    showMore(kPageRows);
  };
  return part;
}
