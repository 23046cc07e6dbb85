'use strict';
// The page of `hawthorn web`. What comes from the database is hostile: it gets into the page as
// text nodes alone, and its bytes are hexadecimal digits until they are shown.

const byId = (id) => document.getElementById(id);
const VIEWS = ['entries', 'containers', 'metrics'];
const PART_BYTES = 65536;
const START = {from: '', from_value: '', skip: '', key: ''};  // of a tree

// What is shown; the address of the page says the same.
let place = {};
const now = {page: null, next: null, detail: null, mapNext: null, treesNext: null,
  trees: new Map()};

function readPlace() {
  const said = new URLSearchParams(location.hash.slice(1));
  place = {
    view: VIEWS.includes(said.get('view')) ? said.get('view') : 'entries',
    tree: said.get('tree'),
    sub: said.get('sub') || '',
    from: said.get('from'),
    from_value: said.get('from_value'),
    skip: said.get('skip'),
    key: said.get('key'),  // whose value is shown
    reverse: said.get('reverse') === '1' ? '1' : '',
    form: ['text', 'hex', 'json'].includes(said.get('form')) ? said.get('form') : 'text',
  };
}

function addressOf(changes) {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries({...place, ...changes})) {
    if (value !== null && value !== undefined && value !== '') said.set(name, value);
  }
  return '#' + said;
}

function goTo(changes) {
  location.hash = addressOf(changes);
}

async function api(name, parameters) {
  const asked = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters || {})) {
    if (value === null || value === undefined || (value === '' && key !== 'key')) continue;
    asked.set(key, value);
  }
  const answer = await fetch('api/' + name + '?' + asked);
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error.message);
  return body;
}

// Bytes and text.

function bytesOf(hex) {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(hex.substr(2 * i, 2), 16);
  return bytes;
}

const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

// The length of the UTF-8 sequence at `at`, or 0.
function sequenceLength(bytes, at) {
  const lead = bytes[at];
  if (lead < 0x80) return 1;
  const length = lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3
    : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  for (let i = 1; i < length; i++) if ((bytes[at + i] & 0xc0) !== 0x80) return 0;
  const second = bytes[at + 1];
  const wrong = (lead === 0xe0 && second < 0xa0) || (lead === 0xed && second > 0x9f) ||
    (lead === 0xf0 && second < 0x90) || (lead === 0xf4 && second > 0x8f);
  return wrong ? 0 : length;
}

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;
const NAMED = {'\n': '\\n', '\t': '\\t', '\r': '\\r', '\\': '\\\\'};
const decoder = new TextDecoder('utf-8', {ignoreBOM: true});

// Text as the command prints it: printable characters, and \n \t \r \\ \xNN, which are marked.
// With `lines` line ends are line ends, and a backslash stands for itself.
function appendText(to, bytes, lines) {
  let plain = '';
  let escaped = '';
  const flush = () => {
    if (plain) to.append(plain);
    if (escaped) to.append(element('span', {className: 'escape'}, escaped));
    plain = escaped = '';
  };
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at);
    const character = length ? decoder.decode(bytes.subarray(at, at + length)) : '';
    const keeps = lines && (character === '\n' || character === '\t' || character === '\\');
    if (character && (keeps || !(UNPRINTABLE.test(character) || character === '\\'))) {
      if (escaped) flush();
      plain += character;
    } else {
      if (plain) flush();
      escaped += NAMED[character] ||
        Array.from(bytes.subarray(at, at + (length || 1)),
          (byte) => '\\x' + byte.toString(16).padStart(2, '0')).join('');
    }
    at += length || 1;
  }
  flush();
}

function parseText(text) {
  const bytes = [];
  const encoder = new TextEncoder();
  const pattern = /\\(?:x([0-9a-fA-F]{2})|([ntr\\]))|(\\)|([^\\]+)/g;
  for (const [, digits, letter, stray, plain] of text.matchAll(pattern)) {
    if (stray) throw new Error('a \\ that is no \\n, \\t, \\r, \\\\ or \\xNN');
    if (digits) bytes.push(parseInt(digits, 16));
    if (letter) bytes.push({n: 10, t: 9, r: 13, '\\': 92}[letter]);
    if (plain) bytes.push(...encoder.encode(plain));
  }
  return hexOf(bytes);
}

function parseHex(text) {
  const digits = text.replace(/\s/g, '').toLowerCase();
  if (!/^([0-9a-f]{2})*$/.test(digits)) throw new Error('hexadecimal digits, two for each byte');
  return digits;
}

function hexLines(bytes, offset) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.subarray(at, at + 16);
    const digits = Array.from(row, (byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const letters = Array.from(row, (byte) =>
      byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.').join('');
    lines.push((offset + at).toString(16).padStart(8, '0') + '  ' + digits.padEnd(49) + letters);
  }
  return lines.join('\n');
}

// Indents JSON without changing a token: numbers keep their digits. Throws where it is none.
function indentJson(text) {
  JSON.parse(text);
  let depth = 0;
  let out = '';
  const newLine = () => '\n' + '  '.repeat(depth);
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) || [];
  tokens.forEach((token, i) => {
    const empty = (token === '}' && tokens[i - 1] === '{') ||
      (token === ']' && tokens[i - 1] === '[');
    if ((token === '}' || token === ']')) {
      depth--;
      if (!empty) out += newLine();
    }
    out += token;
    if (token === '{' || token === '[') {
      depth++;
      if (tokens[i + 1] !== '}' && tokens[i + 1] !== ']') out += newLine();
    } else if (token === ',') {
      out += newLine();
    } else if (token === ':') {
      out += ' ';
    }
  });
  return out;
}

// Parts of the page.

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function bytesElement(name, hex, form, className) {
  const made = element(name, {className: className || 'bytes'});
  if (form === 'hex') made.append(hex);
  else appendText(made, bytesOf(hex), false);
  if (hex === '') made.append(element('span', {className: 'faint'}, 'empty'));
  return made;
}

const count = (number) => Number(number).toLocaleString('en');

const counted = (number, one, many) => count(number) + ' ' + (Number(number) === 1 ? one : many);

function size(bytes) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let unit = 0;
  let number = Number(bytes);
  while (number >= 1000 && unit < units.length - 1) {
    number /= 1000;
    unit++;
  }
  return (unit === 0 ? number.toFixed(0) : number.toPrecision(3)) + ' ' + units[unit];
}

const amount = (number, unit) => unit === 'bytes' ? size(number)
  : count(Math.round(number)) + (unit ? ' ' + unit : '');

function trouble(error) {
  byId('trouble').textContent = error ? String(error.message || error) : '';
}

// The answer of an older request must not replace that of a newer one.
let generation = 0;
async function show(load, draw) {
  const mine = generation;
  try {
    const body = await load();
    if (mine !== generation) return;
    trouble(null);
    draw(body);
  } catch (error) {
    if (mine === generation) trouble(error);
  }
}

// Trees.

function drawTrees(body, more) {
  if (!more) {
    now.trees.clear();
    byId('trees').replaceChildren();
  }
  now.treesNext = body.next || null;
  byId('more-trees').hidden = !body.next;
  byId('tree-count').textContent = '(' + count(body.trees_count) + ')';
  for (const tree of body.trees) {
    now.trees.set(tree.name, tree);
    const name = bytesElement('span', tree.name, 'text', '');
    const facts = element('small', {},
      'about ' + counted(tree.entries_estimated || 0, 'entry', 'entries') + ', ' +
      size(tree.bytes || 0));
    const link = element('a', {}, name, facts);
    link.dataset.tree = tree.name;
    byId('trees').append(element('li', {}, link));
  }
  markTree();
}

function markTree() {
  for (const link of byId('trees').querySelectorAll('a')) {
    if (link.dataset.tree === place.tree) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
    link.href = addressOf({...START, tree: link.dataset.tree, sub: '',
      view: place.view === 'metrics' ? 'entries' : place.view});
  }
}

const loadTrees = () => api('trees').then((body) => {
  drawTrees(body, false);
  if (place.tree === null && body.trees.length > 0) {
    const main = now.trees.has('6d61696e') ? '6d61696e' : body.trees[0].name;
    history.replaceState(null, '', addressOf({tree: main}));
    load();
  }
}).catch(trouble);

function drawPlace() {
  const line = byId('place');
  line.replaceChildren();
  if (place.tree === null || place.view === 'metrics') return;
  const steps = place.sub ? place.sub.split(',') : [];
  const link = (hex, sub) => {
    const made = bytesElement('a', hex, 'text', '');
    made.href = addressOf({sub, ...START});
    return made;
  };
  line.append(link(place.tree, ''));
  steps.forEach((step, i) => line.append(' / ', link(step, steps.slice(0, i + 1).join(','))));
  const tree = now.trees.get(place.tree);
  if (tree && steps.length === 0) {
    const traits = [];
    if (tree.order !== 'bytewise') traits.push('order ' + tree.order);
    if (tree.multi_value) traits.push('several values to a key, order ' + tree.value_order);
    if (tree.expires) traits.push('entries may end');
    if (tree.subtrees) traits.push('values may be trees');
    if (traits.length) line.append(element('span', {className: 'faint'}, ' ' + traits.join('; ')));
  }
}

// Entries.

const whichTree = () => ({tree: place.tree, sub: place.sub});

function drawEntries(body) {
  now.page = body;
  const rows = byId('rows');
  rows.replaceChildren();
  for (const entry of body.entries) {
    const key = element('td', {className: 'bytes'});
    const value = element('td', {className: 'bytes'});
    const row = element('tr', {}, key, value);
    const name = bytesElement('button', entry.key, place.form === 'hex' ? 'hex' : 'text', '');
    name.type = 'button';
    if (entry.subtree) {
      const sub = place.sub ? place.sub + ',' + entry.key : entry.key;
      name.addEventListener('click', () => goTo({sub, ...START}));
      value.append(element('span', {className: 'badge'}, 'a tree'));
    } else {
      name.addEventListener('click', () => openDetail(entry, row, body.multi_value));
      if (entry.error) {
        value.append(element('span', {className: 'problem'}, entry.error));
      } else {
        const preview = bytesElement('span', entry.value, place.form === 'hex' ? 'hex' : 'text');
        if (entry.value.length / 2 < entry.value_bytes) preview.append(' …');
        value.append(preview);
      }
    }
    if (entry.expires_at) {
      value.append(element('div', {className: 'faint'}, 'ends ' +
        new Date(entry.expires_at).toISOString()));
    }
    key.append(name);
    row.append(element('td', {className: 'number'},
      entry.value_bytes === undefined ? '' : count(entry.value_bytes)));
    rows.append(row);
    if (entry.key === place.key && !entry.subtree) openDetail(entry, row, body.multi_value);
  }
  now.next = body.next || null;
  byId('next').disabled = !body.next;
  byId('entries-note').textContent = body.error ||
    (body.entries.length === 0 ? 'No entries from here on.' :
      body.next ? '' : 'The end of the tree.');
}

function loadEntries() {
  byId('from').value = '';
  if (place.from) {
    const from = bytesElement('span', place.from, place.form === 'hex' ? 'hex' : 'text');
    byId('from').value = from.textContent;
  }
  byId('reverse').checked = place.reverse === '1';
  byId('form').value = place.form;
  closeDetail();
  if (place.tree === null) return;
  show(() => api('entries', {...whichTree(), from: place.from, from_value: place.from_value,
    skip: place.skip, reverse: place.reverse}), drawEntries);
}

function closeDetail() {
  now.detail = null;
  byId('detail').hidden = true;
  for (const row of document.querySelectorAll('tr.chosen')) row.classList.remove('chosen');
}

function leaveDetail() {
  const row = document.querySelector('#rows tr.chosen');
  closeDetail();
  if (row) row.querySelector('button').focus();
}

function openDetail(entry, row, multiValue) {
  closeDetail();
  row.classList.add('chosen');
  now.detail = {entry, multiValue, offset: 0};
  byId('explained').replaceChildren();
  byId('explain').disabled = multiValue;
  byId('detail').hidden = false;
  if (multiValue) {
    drawDetail({key: entry.key, value_bytes: entry.value_bytes, offset: 0, value: entry.value,
      expires_at: entry.expires_at});
  } else {
    loadPart();
  }
  byId('detail').focus();
}

function loadPart() {
  const {entry, offset} = now.detail;
  show(() => api('value', {...whichTree(), key: entry.key, offset, size: PART_BYTES}), drawDetail);
}

function drawDetail(body) {
  if (now.detail === null) return;
  now.detail.body = body;
  const bytes = bytesOf(body.value);
  const end = body.offset + bytes.length;
  byId('detail-key').replaceChildren(bytesElement('span', body.key,
    place.form === 'hex' ? 'hex' : 'text'));
  const facts = [counted(body.value_bytes, 'byte', 'bytes')];
  if (bytes.length < body.value_bytes) {
    facts.push('these are ' + count(body.offset) + ' to ' + count(end));
  }
  if (body.expires_at) facts.push('ends ' + new Date(body.expires_at).toISOString());
  const shown = byId('detail-value');
  shown.replaceChildren();
  shown.classList.toggle('columns', place.form === 'hex');
  if (place.form === 'hex') {
    shown.append(hexLines(bytes, body.offset));
  } else if (place.form === 'json') {
    try {
      const text = new TextDecoder('utf-8', {fatal: true}).decode(bytes);
      appendText(shown, new TextEncoder().encode(indentJson(text)), true);
    } catch (error) {
      facts.push('not JSON' + (bytes.length < body.value_bytes ? ' in this part' : ''));
      appendText(shown, bytes, true);
    }
  } else {
    appendText(shown, bytes, true);
  }
  byId('detail-facts').textContent = facts.join('; ');
  byId('part-before').hidden = byId('part-after').hidden = bytes.length === body.value_bytes ||
    now.detail.multiValue;
  byId('part-before').disabled = body.offset === 0;
  byId('part-after').disabled = end >= body.value_bytes;
}

function drawExplained(told) {
  const list = byId('explained');
  list.replaceChildren();
  const add = (name, ...what) => list.append(element('dt', {}, name), element('dd', {}, ...what));
  const where = (extent) => extent.file + ' at ' + count(extent.offset) + ', ' + size(extent.bytes);
  add('container', count(told.container) + ', from ', bytesElement('span', told.low_key, 'text'),
    ' to ', told.high_key === undefined ? 'the end' : bytesElement('span', told.high_key, 'text'));
  if (told.index) add('index run', where(told.index) + ', in memory: ' + told.resident);
  if (told.extent) add('value', told.kind + ', in ' + where(told.extent));
  else add('value', told.kind);
  add('found in', told.place);
  add('versions', count(told.versions_unflushed) + ' in memory, ' + count(told.versions_flushed) +
    ' on disk');
  const cost = (what) => counted(what.reads, 'read', 'reads') + ', ' + size(what.bytes);
  add('a get now', cost(told.now));
  add('a get cold', cost(told.cold));
}

// Containers.

function drawTreeFacts() {
  const facts = byId('tree-facts');
  facts.replaceChildren();
  const tree = now.trees.get(place.tree);
  if (!tree || tree.containers === undefined || place.sub) return;
  const values = tree.bytes_values;
  const share = values ? ' (' + (100 * tree.bytes_garbage / values).toFixed(1) + '%)' : '';
  for (const [name, text] of [
    ['containers', count(tree.containers)], ['entries on disk', count(tree.entries_flushed)],
    ['unflushed', count(tree.delta_records)], ['index', size(tree.bytes_index)],
    ['values', size(values)], ['garbage in values', size(tree.bytes_garbage) + share]]) {
    facts.append(element('div', {}, element('dt', {}, name), element('dd', {}, text)));
  }
}

function heatOf(container) {
  const all = container.entries_flushed + container.entries_unflushed;
  const share = all === 0 ? 0 : container.entries_unflushed / all;
  return share === 0 ? 0 : share <= 0.01 ? 1 : share <= 0.1 ? 2 : 3;
}

function drawMap(body, more) {
  if (!more) {
    byId('map').replaceChildren();
    byId('map-rows').replaceChildren();
  }
  byId('map-note').textContent = body.error || 'Wider boxes are larger on disk.' +
    (body.keys_as_they_are ? '' : ' Keys are shown as the tree stores them.');
  now.mapNext = body.next || null;
  byId('more-map').hidden = !body.next;
  for (const container of body.containers || []) {
    const row = element('tr', {id: 'container-' + container.container, tabIndex: -1},
      element('td', {className: 'number'}, String(container.container)),
      bytesElement('td', container.low_key, 'text'),
      element('td', {className: 'number'}, count(container.entries_flushed)),
      element('td', {className: 'number'}, count(container.entries_unflushed)),
      element('td', {className: 'number'}, size(container.bytes)),
      element('td', {className: 'number'}, size(container.garbage_bytes)),
      element('td', {className: 'number'}, container.index ? size(container.index.bytes) : ''),
      element('td', {}, container.index
        ? container.index.file + ' at ' + count(container.index.offset) : 'memory'));
    const box = element('button', {type: 'button',
      className: 'heat-' + heatOf(container) + ' resident-' + container.resident});
    box.style.width = (1.1 + 0.35 * Math.log2(1 + container.bytes / 65536)) + 'rem';
    box.title = 'container ' + container.container + ': ' + count(container.entries_flushed) +
      ' entries on disk, ' + count(container.entries_unflushed) + ' unflushed, ' +
      size(container.bytes) + ', garbage ' + size(container.garbage_bytes) + ', index in memory: ' + container.resident;
    box.setAttribute('aria-label', box.title);
    box.addEventListener('click', () => {
      for (const other of document.querySelectorAll('tr.chosen')) other.classList.remove('chosen');
      row.classList.add('chosen');
      row.scrollIntoView({block: 'center'});
      row.focus();
    });
    byId('map').append(element('li', {}, box));
    byId('map-rows').append(row);
  }
}

function loadMap(from) {
  drawTreeFacts();
  if (place.tree === null) return;
  show(() => api('containers', {...whichTree(), from}), (body) => drawMap(body, Boolean(from)));
}

// Metrics.

const CHARTS = [['commits', ''], ['operations', ''], ['bytes_written_log', 'bytes'],
  ['bytes_written_data', 'bytes'], ['bytes_read', 'bytes'], ['flushes', '']];
const POINTS = 60;
const series = new Map();
const rows = new Map();
let before = null;

// The figures of the process that writes, where there is one; else those of this one.
function figuresOf(body) {
  const writes = body.process && body.process.alive;
  if (writes) return {at: body.process.updated_us / 1e6, list: body.process.counters};
  const known = new Map((body.process ? body.process.counters : []).map((c) => [c.name, c]));
  const list = Object.entries(body.stats)
    .filter(([, value]) => typeof value === 'number')
    .map(([name, value]) => ({name, value, unit: known.has(name) ? known.get(name).unit
      : name.includes('bytes') ? 'bytes' : '', grows: known.has(name) && known.get(name).grows}));
  return {at: performance.now() / 1000, list};
}

function drawHeader(body) {
  byId('path').textContent = body.path;
  document.title = body.path + ' – Hawthorn';
  const writes = body.process && body.process.alive;
  byId('mode').classList.toggle('live', Boolean(body.mode === 'follower' && writes));
  byId('mode').textContent = body.behind ? 'shows what was: ' + body.behind
    : body.mode !== 'follower' ? 'opened read-only'
    : writes ? 'follows process ' + body.process.pid : 'follows; no process writes';
}

function drawChart(name, unit, rate) {
  let chart = series.get(name);
  if (!chart) {
    const line = document.createElementNS('http://www.w3.org/2000/svg', 'polyline');
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('viewBox', '0 0 ' + POINTS + ' 40');
    svg.setAttribute('preserveAspectRatio', 'none');
    svg.setAttribute('aria-hidden', 'true');
    svg.append(line);
    const number = element('b', {});
    byId('charts').append(element('div', {className: 'chart'},
      element('span', {className: 'faint'}, name + ' in a second'), number, svg));
    chart = {line, number, values: []};
    series.set(name, chart);
  }
  if (rate === null) {
    chart.number.textContent = chart.values.length ? chart.number.textContent : '–';
    return;
  }
  chart.values.push(rate);
  if (chart.values.length > POINTS) chart.values.shift();
  chart.number.textContent = amount(rate, unit);
  const top = Math.max(...chart.values, 1e-9);
  const step = POINTS / Math.max(chart.values.length - 1, 1);
  chart.line.setAttribute('points', chart.values.map((value, i) =>
    (i * step).toFixed(2) + ',' + (38 - 36 * value / top).toFixed(1)).join(' '));
}

function drawMetrics(body) {
  drawHeader(body);
  if (place.view !== 'metrics') return;
  const figures = figuresOf(body);
  const writes = body.process && body.process.alive;
  byId('metrics-of').textContent = writes
    ? 'The figures of process ' + body.process.pid + ', which writes them once a second.'
    : 'No process has it open for writing: these are the figures of this page’s own process.';
  const old = before && figures.at > before.at
    ? new Map(before.list.map((figure) => [figure.name, figure.value])) : null;
  const rates = new Map();
  for (const figure of figures.list) {
    const rate = figure.grows && old && old.has(figure.name) && figure.value >= old.get(figure.name)
      ? (figure.value - old.get(figure.name)) / (figures.at - before.at) : null;
    rates.set(figure.name, rate);
    let row = rows.get(figure.name);
    if (!row) {
      row = [element('td', {}, figure.name), element('td', {className: 'number'}),
        element('td', {className: 'number'})];
      rows.set(figure.name, row);
      byId('figures').append(element('tr', {}, ...row));
    }
    row[1].textContent = amount(figure.value, figure.unit);
    if (rate !== null) row[2].textContent = amount(rate, figure.unit);
  }
  for (const [name, unit] of CHARTS) {
    if (rates.has(name)) drawChart(name, unit, rates.get(name));
  }
  if (!before || figures.at > before.at) before = figures;
}

const loadMetrics = () => api('metrics').then(drawMetrics, trouble);

// The page as a whole.

function load() {
  generation++;
  readPlace();
  for (const view of VIEWS) {
    byId(view).hidden = view !== place.view;
    byId('tab-' + view).setAttribute('aria-selected', String(view === place.view));
    byId('tab-' + view).tabIndex = view === place.view ? 0 : -1;
  }
  markTree();
  drawPlace();
  if (place.view === 'entries') loadEntries();
  if (place.view === 'containers') loadMap('');
  if (place.view === 'metrics') loadMetrics();
}

function start() {
  for (const view of VIEWS) {
    const tab = byId('tab-' + view);
    tab.addEventListener('click', () => goTo({view}));
    tab.addEventListener('keydown', (event) => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (!step) return;
      const next = VIEWS[(VIEWS.indexOf(view) + step + VIEWS.length) % VIEWS.length];
      byId('tab-' + next).focus();
      goTo({view: next});
    });
  }
  byId('seek').addEventListener('submit', (event) => {
    event.preventDefault();
    try {
      const text = byId('from').value;
      const from = place.form === 'hex' ? parseHex(text) : parseText(text);
      goTo({...START, from, reverse: byId('reverse').checked ? '1' : ''});
    } catch (error) {
      trouble(error);
    }
  });
  byId('reverse').addEventListener('change', (event) =>
    goTo({reverse: event.target.checked ? '1' : '', ...START}));
  byId('form').addEventListener('change', (event) => {
    const {detail, page} = now;
    const chosen = Array.from(byId('rows').children)
      .findIndex((row) => row.classList.contains('chosen'));
    history.replaceState(null, '', addressOf({form: event.target.value, key: ''}));
    readPlace();
    if (page) drawEntries(page);
    if (detail && detail.body && chosen >= 0) {
      byId('rows').children[chosen].classList.add('chosen');
      drawDetail(detail.body);
    }
  });
  byId('first').addEventListener('click', () => goTo({...START}));
  byId('next').addEventListener('click', () => {
    if (now.next) goTo({...START, ...now.next});
  });
  byId('again').addEventListener('click', loadEntries);
  byId('close').addEventListener('click', leaveDetail);
  byId('part-before').addEventListener('click', () => {
    now.detail.offset = Math.max(0, now.detail.offset - PART_BYTES);
    loadPart();
  });
  byId('part-after').addEventListener('click', () => {
    now.detail.offset += PART_BYTES;
    loadPart();
  });
  byId('explain').addEventListener('click', () =>
    show(() => api('explain', {...whichTree(), key: now.detail.entry.key}), drawExplained));
  byId('again-map').addEventListener('click', () => loadTrees().then(() => loadMap('')));
  byId('more-map').addEventListener('click', () => loadMap(now.mapNext));
  byId('more-trees').addEventListener('click', () =>
    api('trees', {from: now.treesNext}).then((body) => drawTrees(body, true), trouble));
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && now.detail !== null) leaveDetail();
  });
  window.addEventListener('hashchange', load);
  load();
  loadTrees().then(() => {
    drawPlace();
    if (place.view === 'containers') drawTreeFacts();
  });
  loadMetrics();
  let ticks = 0;
  setInterval(() => {
    if (document.visibilityState !== 'visible') return;
    ticks++;
    if (place.view === 'metrics' || ticks % 5 === 0) loadMetrics();
  }, 1000);
}

start();
