'use strict';
// Builds the native addon with the C++ compiler of this machine; npm's install script runs it.
// Nothing is downloaded: headers of Node-API are those of the running Node.js (or of the package
// node-api-headers), those of Hawthorn are found by HAWTHORN_PREFIX or pkg-config.

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const sources = path.join(__dirname, 'src');
const out = process.env.HAWTHORN_NODE_OUT || path.join(__dirname, 'build');

function fail(message) {
  console.error(`hawthorn: ${message}`);
  process.exit(1);
}

function nodeHeaders() {
  const candidates = [
    process.env.HAWTHORN_NODE_HEADERS,
    path.join(path.dirname(process.execPath), '..', 'include', 'node'),
    '/usr/include/node',
    '/usr/local/include/node',
  ];
  try {
    candidates.push(require('node-api-headers').include_dir);
  } catch {
    // Not installed: the headers of Node.js itself do.
  }
  const found = candidates.find((one) => one && fs.existsSync(path.join(one, 'node_api.h')));
  if (!found) {
    fail('node_api.h was not found: install libnode-dev, or `npm install node-api-headers`, ' +
      'or set HAWTHORN_NODE_HEADERS');
  }
  return found;
}

function libraryFlags() {
  const prefix = process.env.HAWTHORN_PREFIX;
  if (prefix) {
    const lib = path.resolve(prefix, 'lib');
    return {
      compile: [`-I${path.resolve(prefix, 'include')}`],
      link: [`-L${lib}`, `-Wl,-rpath,${lib}`, '-lhawthorn'],
    };
  }
  const ask = (...args) => {
    try {
      return execFileSync('pkg-config', [...args, 'hawthorn'], { encoding: 'utf8' }).trim();
    } catch {
      return fail('the library was not found: set HAWTHORN_PREFIX to where it is installed');
    }
  };
  const split = (text) => text.split(/\s+/).filter(Boolean);
  const lib = ask('--variable=libdir');
  return {
    compile: split(ask('--cflags')),
    link: [`-L${lib}`, `-Wl,-rpath,${lib}`, ...split(ask('--libs'))],
  };
}

const compiler = process.env.CXX || 'c++';
const flags = libraryFlags();
const common = ['-std=c++17', '-O2', '-fPIC', '-fvisibility=hidden', '-Wall', '-Wextra',
  `-I${nodeHeaders()}`, ...flags.compile,
  ...(process.env.CXXFLAGS || '').split(/\s+/).filter(Boolean)];
const run = (args) => {
  try {
    execFileSync(compiler, args, { stdio: 'inherit' });
  } catch (error) {
    fail(`${compiler} has failed: ${error.message.split('\n')[0]}`);
  }
};

fs.mkdirSync(out, { recursive: true });
const newest = (files) => Math.max(...files.map((file) => fs.statSync(file).mtimeMs));
const header = path.join(sources, 'addon.h');
const objects = [];
let changed = false;
for (const name of fs.readdirSync(sources).filter((one) => one.endsWith('.cc')).sort()) {
  const source = path.join(sources, name);
  const object = path.join(out, name.replace(/\.cc$/, '.o'));
  objects.push(object);
  if (fs.existsSync(object) && fs.statSync(object).mtimeMs > newest([source, header])) continue;
  run([...common, '-c', source, '-o', object]);
  changed = true;
}
const addon = path.join(out, 'hawthorn.node');
if (changed || !fs.existsSync(addon)) {
  // Threads of a database may outlive the thread of JavaScript that has loaded the addon first.
  run(['-shared', '-o', addon, ...objects, ...flags.link, '-pthread', '-Wl,-z,nodelete']);
}
