/**
 * Measures the owner's console: the built backend hears 10,000 devices, of which 500 change each second, and ten pages are open:
 * one in chromium, eight that only read the stream, and one that reads nothing. Usage: npm run bench:console [-- --json]
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Aedes } from 'aedes';
import mqtt from 'mqtt';
import puppeteer from 'puppeteer-core';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const DEVICES = 10_000;
const CHANGES_PER_S = 500;
const READERS = 8;
const MEASURE_MS = 15_000;
const SCROLL_MS = 10_000;
const PREFIX = 'dragoman/v1';
/** Ticks per second in /proc. */
const HZ = 100;

const { values } = parseArgs({ options: { json: { type: 'boolean' } } });
const say = (text) => values.json || process.stdout.write(`${text}\n`);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const folder = await mkdtemp(join(tmpdir(), 'dragoman-bench-'));
const closers = [];
try {
  const broker = await startBroker();
  closers.push(() => broker.close());
  const login = { name: 'bench', password: randomBytes(12).toString('base64url') };
  const backend = await startBackend(broker.url, login);
  closers.push(() => backend.close());
  const devices = await startDevices(broker.url);
  closers.push(() => devices.close());
  const cookie = await signIn(backend.url, login);
  await heard(backend.url, cookie);
  say(`${DEVICES} devices, ${CHANGES_PER_S} changes a second`);
  devices.begin();
  await pause(3000);

  const none = await measure(backend.pid);
  const browser = await puppeteer.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  closers.push(() => browser.close());
  const tab = await openTab(browser, backend.url, login);
  const one = await measure(backend.pid, () => tab.bytes());
  const frames = await tab.scroll();
  const readers = Array.from({ length: READERS }, () => openReader(backend.url, cookie, true));
  readers.push(openReader(backend.url, cookie, false));
  closers.push(() => {
    for (const reader of readers) reader.close();
  });
  await pause(3000);
  const ten = await measure(backend.pid, () => readers.reduce((sum, { read }) => sum + read(), 0));
  const tenFrames = await tab.scroll();

  const summary = {
    devices: DEVICES,
    changes_per_s: CHANGES_PER_S,
    backend_cpu_percent: { no_tab: none.cpu, one_tab: one.cpu, ten_tabs: ten.cpu },
    backend_cpu_percent_per_tab: round((ten.cpu - none.cpu) / 10),
    backend_rss_mb: { no_tab: none.rssMb, one_tab: one.rssMb, ten_tabs: ten.rssMb },
    kb_per_s_per_tab: { one_tab: round(one.bytes / 1024), ten_tabs: round(ten.bytes / 1024 / READERS) },
    frames: { one_tab: frames, ten_tabs: tenFrames },
  };
  say(JSON.stringify(summary, null, 2));
  if (values.json) process.stdout.write(`${JSON.stringify({ console: summary })}\n`);
} finally {
  for (const close of closers.reverse()) await close();
  await rm(folder, { recursive: true });
}

async function startBroker() {
  const aedes = await Aedes.createBroker({
    // aedes has no shared subscriptions: every member of a group gets every message.
    authorizeSubscribe(_client, subscription, callback) {
      callback(null, { ...subscription, topic: subscription.topic.replace(/^\$share\/[^/]+\//, '') });
    },
  });
  const server = createServer(aedes.handle);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `mqtt://127.0.0.1:${server.address().port}`,
    async close() {
      await new Promise((resolve) => aedes.close(resolve));
      server.close();
    },
  };
}

function round(value) {
  return Math.round(value * 100) / 100;
}

/** Starts the built backend with a console, and adds one account for it. */
async function startBackend(brokerUrl, { name, password }) {
  await writeFile(join(folder, 'api-key'), 'bench', { mode: 0o600 });
  const file = join(folder, 'backend.json');
  const config = {
    mqtt: { url: brokerUrl },
    service: {
      url: 'http://127.0.0.1:9',
      streamUrl: 'ws://127.0.0.1:9/',
      apiKeyFile: join(folder, 'api-key'),
    },
    allow: ['*/*'],
    store: { path: join(folder, 'store.db') },
    console: { listen: '127.0.0.1:0' },
  };
  await writeFile(file, JSON.stringify(config));
  const program = join(ROOT, 'dist', 'backend.mjs');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  const words = [
    'people',
    'add',
    name,
    '--role',
    'viewer',
    '--config',
    file,
    '--password-file',
    passwordFile,
  ];
  const added = spawnSync(process.execPath, [program, ...words], {
    input: `${password}\n`,
    encoding: 'utf8',
  });
  if (added.status !== 0) throw new Error(added.stderr);
  const child = spawn(process.execPath, [program, 'run', '--config', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const url = await new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      const found = /"console":"(http[^"]+)"/.exec(line);
      if (found !== null) resolve(found[1]);
    });
    exited.then(() => reject(new Error('the backend ended')));
  });
  return {
    url,
    pid: child.pid,
    async close() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** Starts devices that publish status and state, retained, as the agent does. */
async function startDevices(url) {
  const client = await mqtt.connectAsync(url);
  const nameOf = (number) => `museum/kiosk-${String(number).padStart(5, '0')}`;
  const publish = (number, isReady) => {
    const base = `${PREFIX}/${nameOf(number)}`;
    const ts = new Date().toISOString();
    const status = {
      ts,
      boot_id: `boot-${number}`,
      conn_seq: 1,
      version: '1.0.0',
      status: isReady ? 'ready' : 'degraded',
      reasons: isReady ? [] : ['capture:silent'],
    };
    client.publish(`${base}/status`, JSON.stringify(status), { retain: true });
  };
  for (let number = 1; number <= DEVICES; number += 1) {
    publish(number, true);
    if (number % 500 === 0) await pause(50);
  }
  const ready = new Set();
  let timer;
  return {
    begin() {
      // Spread evenly: a tenth of the changes every 100 ms.
      timer = setInterval(() => {
        for (let step = 0; step < CHANGES_PER_S / 10; step += 1) {
          const number = 1 + Math.floor(Math.random() * DEVICES);
          const isReady = ready.delete(number);
          if (!isReady) ready.add(number);
          publish(number, isReady);
        }
      }, 100);
    },
    async close() {
      clearInterval(timer);
      await client.endAsync(true);
    },
  };
}

async function signIn(url, login) {
  const answer = await fetch(`${url}/api/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify(login),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.headers.getSetCookie()[0].split(';')[0];
}

async function heard(url, cookie) {
  for (;;) {
    const answer = await fetch(`${url}/api/devices`, { headers: { cookie } });
    if ((await answer.json()).total >= DEVICES) return;
    await pause(200);
  }
}

/** A process's share of one processor and its memory, and the increase of `read` per second. */
async function measure(pid, read = () => 0) {
  const ticks = () => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return Number(fields[11]) + Number(fields[12]);
  };
  const [before, bytes, at] = [ticks(), read(), performance.now()];
  await pause(MEASURE_MS);
  const seconds = (performance.now() - at) / 1000;
  const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1];
  return {
    cpu: round(((ticks() - before) / HZ / seconds) * 100),
    rssMb: Math.round(Number(rss) / 1024),
    bytes: (read() - bytes) / seconds,
  };
}

async function openTab(browser, url, { name, password }) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 800 });
  const network = await page.createCDPSession();
  await network.send('Network.enable');
  let bytes = 0;
  network.on('Network.dataReceived', ({ encodedDataLength, dataLength }) => {
    bytes += encodedDataLength || dataLength;
  });
  await page.goto(url);
  await page.waitForSelector('#password');
  await page.type('#name', name);
  await page.type('#password', password);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.scroller .line');
  return {
    bytes: () => bytes,
    /** Scrolls through the rows, and returns figures of the frames. */
    async scroll() {
      const before = mainThreadMs(browser.process().pid);
      const gaps = await page.evaluate(async (forMs) => {
        const box = document.querySelector('.scroller');
        const found = [];
        const end = performance.now() + forMs;
        let last = performance.now();
        let blank = 0;
        while (last < end) {
          await new Promise(requestAnimationFrame);
          const now = performance.now();
          found.push(now - last);
          last = now;
          box.scrollTop += 24;
          if (box.querySelector('.line .status') === null) blank += 1;
        }
        return { found, blank };
      }, SCROLL_MS);
      const spentMs = mainThreadMs(browser.process().pid) - before;
      const sorted = gaps.found.toSorted((one, other) => one - other);
      const at = (share) => round(sorted[Math.floor(sorted.length * share)]);
      return {
        per_s: round((gaps.found.length / SCROLL_MS) * 1000),
        gap_ms: { p50: at(0.5), p95: at(0.95), p99: at(0.99) },
        // Time of the page's main thread: below 16.7, the page itself allows 60 frames a second, however busy the machine is.
        processor_ms_per_frame: round(spentMs / gaps.found.length),
        frames_without_rows: gaps.blank,
      };
    },
  };
}

/** Processor time of the main threads of the renderers below a browser. */
function mainThreadMs(browserPid) {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (!words.includes('--type=renderer') || !isBelow(Number(pid), browserPid)) continue;
      const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
      ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // The process has ended.
    }
  }
  return (ticks / HZ) * 1000;
}

function isBelow(pid, ancestor) {
  for (let at = pid; at > 1; ) {
    if (at === ancestor) return true;
    at = Number(readFileSync(`/proc/${at}/stat`, 'utf8').split(') ')[1].split(' ')[1]);
  }
  return false;
}

/** Opens a stream, and reads it or leaves it unread. */
function openReader(url, cookie, isReading) {
  let bytes = 0;
  const view = encodeURIComponent(JSON.stringify({ first: 0, last: 100 }));
  const request = get(`${url}/api/stream?view=${view}`, { headers: { cookie } }, (response) => {
    if (!isReading) return response.pause();
    response.on('data', (part) => {
      bytes += part.length;
    });
  });
  request.on('error', () => {});
  return { read: () => bytes, close: () => request.destroy() };
}
