import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  createAddonCapture,
  createAddonPlayback,
  overweight,
} from '../../../../src/adapters/audio/addon/driver.ts';
import { PACKAGES } from '../../../../src/adapters/audio/addon/wire.ts';
import { needs } from '../../../needs.ts';
import { createListener, RATE_HZ } from '../child/fake-programs.ts';
import { makeFolder } from '../wav-files.ts';

const within = { timeout: 60_000, interval: 20 };
const ENTRY = fileURLToPath(
  new URL('../../../../src/adapters/audio/addon/addon-process.ts', import.meta.url),
);

/** The child as it is shipped. */
let child = new Uint8Array();
beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    write: false,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  child = Uint8Array.from(outputFiles[0]?.contents ?? []);
});

/** Puts the child into a folder, with a test's own packages beside it. */
function install(packages: Readonly<Record<string, string>>): string {
  const folder = makeFolder();
  const script = join(folder, 'audio-addon.mjs');
  writeFileSync(script, child);
  for (const [name, code] of Object.entries(packages)) {
    const place = join(folder, 'node_modules', name);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'index.js'), code);
  }
  return script;
}

async function hear(code: string) {
  const listener = createListener();
  const script = install({ [PACKAGES.capture]: code });
  const open = createAddonCapture({
    device: 'plughw:CARD=Mic',
    rateHz: RATE_HZ,
    seed: 1,
    deps: listener.deps,
    script,
  });
  const capture = await open(listener.captureSink);
  onTestFinished(() => capture.close());
  return { ...listener, capture };
}
/** A package with the interface of `alsa-capture`. */
const CAPTURE = (body: string): string => `
  const { EventEmitter } = require('node:events');
  module.exports = class extends EventEmitter { constructor(options) { super(); ${body} } };`;
const STEADY =
  'setInterval(() => this.emit("audio", Buffer.alloc(options.rate / 10 * 2, options.device.length)), 100);';

/** The message of Node 24 for a package that was built with Node 20. */
const OTHER_NODE = `The module '/opt/dragoman/node_modules/alsa-capture/build/Release/capture.node'
was compiled against a different Node.js version using
NODE_MODULE_VERSION 115. This version of Node.js requires
NODE_MODULE_VERSION 137. Please try re-compiling or re-installing
the module (for instance, using \`npm rebuild\` or \`npm install\`).`;

describe('the addon driver with a recording package', () => {
  it('delivers the sound through a child', async () => {
    const { heard } = await hear(CAPTURE(STEADY));
    await expect.poll(() => heard.pieces.length, within).toBeGreaterThan(3);
    expect(heard.pieces[0]?.pcm[0]).toBe('plughw:CARD=Mic'.length);
    expect(heard.faults).toEqual([]);
  });

  it('restarts the child when the package reports a failure or crashes', async () => {
    const fails = 'setTimeout(() => this.emit("error", new Error("No such device")), 250);';
    const removed = await hear(CAPTURE(`${STEADY} ${fails}`));
    await expect.poll(() => removed.heard.faults.map(({ code }) => code), within).toEqual(['lost']);
    const absent = await hear(CAPTURE(fails));
    await expect.poll(() => absent.heard.faults.map(({ code }) => code), within).toEqual(['not_found']);
    const crashing = await hear('process.abort();');
    await expect.poll(() => crashing.capture.figures?.failures, within).toBeGreaterThan(1);
    expect(crashing.heard.faults).toHaveLength(1);
  });

  it('stops the child when it repeats the same sound as fast as it can', async () => {
    const { heard } = await hear(
      CAPTURE(
        'const flood = () => { this.emit("audio", Buffer.alloc(30720)); setImmediate(flood); }; flood();',
      ),
    );
    await expect.poll(() => heard.faults.map(({ code }) => code), within).toEqual(['too_fast']);
  });

  it('restarts the child without a fault when it uses too much memory', async () => {
    const { heard, capture } = await hear(
      CAPTURE(
        `const kept = []; setInterval(() => { if (kept.length < 60) kept.push(Buffer.alloc(10 * 2 ** 20, 1)); }, 10); ${STEADY}`,
      ),
    );
    await expect.poll(() => capture.figures?.starts, within).toBeGreaterThan(1);
    expect(heard.lines).toContain(`${PACKAGES.capture} uses too much memory and is restarted`);
    expect(heard.faults).toEqual([]);
  });

  it.each([
    [
      'is not installed',
      {},
      /it is not installed; use the driver "alsa", or install it: "(?:\S+ )*npm install --prefix \S+ alsa-capture@0\.3"$/,
    ],
    [
      'is not built',
      { [PACKAGES.capture]: "require('./build/Release/capture');" },
      /its native part is not built; .* or build it with this program's Node: "(?:\S+ )*npm rebuild --prefix \S+ alsa-capture"$/,
    ],
    [
      'was built for another Node',
      { [PACKAGES.capture]: `throw new Error(${JSON.stringify(OTHER_NODE)});` },
      /it was built for another Node \(NODE_MODULE_VERSION 115, not 137\); .*npm rebuild/,
    ],
    [
      'fails for another reason',
      {
        [PACKAGES.capture]:
          "throw new Error('libasound.so.2: cannot open shared object file: No such file or directory');",
      },
      /: libasound\.so\.2: cannot open .*; use the driver "alsa", or install it again$/,
    ],
  ])('reports a package that %s, and how to fix it', async (_, packages, message) => {
    const listener = createListener();
    const script = install(packages);
    const options = { device: 'default', rateHz: RATE_HZ, seed: 1, deps: listener.deps, script };
    const capture = await createAddonCapture(options)(listener.captureSink);
    onTestFinished(() => capture.close());
    await expect.poll(() => listener.heard.faults.length, within).toBe(1);
    expect(listener.heard.faults[0]).toMatchObject({ code: 'not_found' });
    expect(listener.heard.faults[0]?.message).toMatch(/^cannot load the npm package "alsa-capture": /);
    expect(listener.heard.faults[0]?.message).toMatch(message);
  });

  it('fails when the child’s program is not beside the agent’s', () => {
    const { deps } = createListener();
    const options = {
      device: 'default',
      rateHz: RATE_HZ,
      seed: 1,
      deps,
      script: '/nonexistent/audio-addon.mjs',
    };
    expect(() => createAddonCapture(options)).toThrow(/npm run build/);
  });
});

describe('the addon driver with a playing package', () => {
  it('passes the sound to the package', async () => {
    const listener = createListener();
    const folder = makeFolder();
    const taken = join(folder, 'taken');
    writeFileSync(taken, '');
    const script = install({
      [PACKAGES.playback]: `module.exports = class extends require('node:stream').Writable {
        _write(pcm, _encoding, done) { require('node:fs').appendFileSync(${JSON.stringify(taken)}, pcm); done(); } };`,
    });
    const options = { device: 'default', rateHz: RATE_HZ, seed: 1, deps: listener.deps, script };
    const playback = await createAddonPlayback(options)(listener.playbackSink);
    onTestFinished(() => playback.close());
    const sound = Buffer.alloc(RATE_HZ, 7);
    playback.write(sound);
    await expect
      .poll(() => readFileSync(taken).filter((byte) => byte === 7).length, within)
      .toBe(sound.length);
    expect(listener.heard.faults).toEqual([]);
  });
});

describe('the memory of a child', () => {
  it('is unknown when there is no child', () => {
    expect(overweight({ pid: null })).toBeNull();
    expect(overweight({ pid: 2 ** 22 + 1 })).toBeNull();
  });
});

/** Whether the real package is installed and can be loaded here; it may abort, so a process of its own tries. */
function whyNot(name: string): string | null {
  try {
    createRequire(import.meta.url).resolve(name);
  } catch {
    return `${name} is not installed`;
  }
  const tried = spawnSync(process.execPath, ['-e', `require(${JSON.stringify(name)})`]);
  return tried.status === 0 ? null : `${name} can't be loaded`;
}

const missing = whyNot(PACKAGES.capture);
describe(`the real package${missing === null ? '' : `: skipped, ${missing}`}`, needs(missing), () => {
  it('reports a card that does not exist', async () => {
    const listener = createListener();
    const script = install({});
    const options = { device: 'hw:CARD=None', rateHz: RATE_HZ, seed: 1, deps: listener.deps, script };
    const capture = await createAddonCapture(options)(listener.captureSink);
    onTestFinished(() => capture.close());
    await expect.poll(() => listener.heard.faults.length, within).toBe(1);
  });
});
