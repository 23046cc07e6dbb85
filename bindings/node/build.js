'use strict';
// Builds the native addon with the C++ compiler of this machine; npm's install script runs it.
// Nothing is downloaded: headers of Node-API are those of the running Node.js (or of the package
// node-api-headers), those of Hawthorn are found by HAWTHORN_PREFIX or pkg-config.

const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
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
    if (!fs.existsSync(path.resolve(prefix, 'include/hawthorn/c.h'))) {
      fail(`HAWTHORN_PREFIX: no library is installed in ${prefix}`);
    }
    return {
      compile: [`-I${path.resolve(prefix, 'include')}`],
      link: [`-L${lib}`, `-Wl,-rpath,${lib}`, '-lhawthorn'],
    };
  }
  const ask = (...args) => {
    try {
      return execFileSync('pkg-config', [...args, 'hawthorn'], { encoding: 'utf8' }).trim();
    } catch {
      return fail('libhawthorn was not found: set HAWTHORN_PREFIX to where it is installed, or ' +
        'PKG_CONFIG_PATH to the directory of its hawthorn.pc (pkg-config is needed, too)');
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
const run = (args) => new Promise((resolve) => {
  const child = spawn(compiler, args, { stdio: 'inherit' });
  child.on('error', (error) => fail(error.code === 'ENOENT' ?
    `${compiler} is missing: install a C++ compiler (Debian: g++), or name it in CXX` :
    `${compiler} has failed: ${error.message}`));
  child.on('exit', (code) => code === 0 ? resolve() : fail(`${compiler} has failed`));
});

// As many at a time as there are processors.
async function runAll(commands) {
  const next = commands[Symbol.iterator]();
  const worker = async () => {
    for (const args of next) await run(args);
  };
  await Promise.all(Array.from(os.cpus(), worker));
}

fs.mkdirSync(out, { recursive: true });
const newest = (files) => Math.max(...files.map((file) => fs.statSync(file).mtimeMs));
const header = path.join(sources, 'addon.h');
const objects = [];
const commands = [];
for (const name of fs.readdirSync(sources).filter((one) => one.endsWith('.cc')).sort()) {
  const source = path.join(sources, name);
  const object = path.join(out, name.replace(/\.cc$/, '.o'));
  objects.push(object);
  if (fs.existsSync(object) && fs.statSync(object).mtimeMs > newest([source, header])) continue;
  commands.push([...common, '-c', source, '-o', object]);
}
const addon = path.join(out, 'hawthorn.node');
runAll(commands).then(() => {
  if (commands.length === 0 && fs.existsSync(addon)) return undefined;
  // Threads of a database may outlive the thread of JavaScript that has loaded the addon first.
  return run(['-shared', '-o', addon, ...objects, ...flags.link, '-pthread', '-Wl,-z,nodelete']);
});
