/**
 * Loads a built emulator with many streams that speak at the same time, and reports whether it keeps up.
 * Usage: node scripts/emulator-load.mjs [--streams 500] [--translate transform] [--targets 1] [--seconds 20] [--json]
 */
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const RATE = 24_000;
const CHUNK_MS = 320;
const CHUNK_SAMPLES = (RATE * CHUNK_MS) / 1000;
/** Chunks in one round of a stream: three seconds of speech and two of silence. */
const CHUNKS = 16;
const SENTENCE_S = 2.9;
const LANGUAGES = ['es', 'de', 'fr', 'it', 'ja', 'pt', 'nl', 'pl'];
const HANDSHAKE_MS = 10_000;
/** Time that a pipeline needs after set_task (2-3 s). */
const SETTLE_MS = 3000;
const PING_MS = 1000;
const FORMANTS = [
  [730, 1090, 2440],
  [530, 1840, 2480],
  [270, 2290, 3010],
];
const BANDWIDTHS = [80, 100, 140];

/** Synthetic syllables that a voice detector takes for speech: pulses through three resonances. */
function speech(samples) {
  const memory = BANDWIDTHS.map(() => [0, 0]);
  const sound = new Float64Array(samples);
  let phase = 0;
  for (let index = 0; index < samples; index++) {
    const t = index / RATE;
    const within = (t % 0.19) / 0.19;
    phase += (120 * (1 + 0.08 * Math.sin(13 * t))) / RATE;
    let value = (phase % 1 < 0.1 ? 1 : -0.11) + ((Math.sin(index * 12.9898) * 43_758.5) % 0.05);
    const vowel = FORMANTS[Math.floor(t / 0.19) % FORMANTS.length];
    for (const [band, width] of BANDWIDTHS.entries()) {
      const radius = Math.exp((-Math.PI * width) / RATE);
      const [before, older] = memory[band];
      const out =
        value * (1 - radius) +
        2 * radius * Math.cos((2 * Math.PI * vowel[band]) / RATE) * before -
        radius * radius * older;
      memory[band] = [out, before];
      value = out * 3;
    }
    sound[index] = value * (0.25 + 0.75 * Math.sin(Math.PI * within) ** 0.6);
  }
  const peak = sound.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9);
  return Int16Array.from(sound, (value) => (value / peak) * 16_000);
}

/** A client's frame, masked with zeros, so that a repeated frame is made only once. */
function frame(opcode, text = '') {
  const body = Buffer.from(text);
  const long = body.length > 125;
  const head = Buffer.alloc(long ? 8 : 6);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | (long ? 126 : body.length);
  if (long) head.writeUInt16BE(body.length, 2);
  return Buffer.concat([head, body]);
}

const message = (type, data) => frame(1, JSON.stringify({ message_type: type, data }));

function soundFrames() {
  const loop = new Int16Array(CHUNK_SAMPLES * CHUNKS);
  for (let index = 0; index < loop.length; index++) loop[index] = ((index * 7) % 5) - 2;
  loop.set(speech(Math.round(SENTENCE_S * RATE)));
  return Array.from({ length: CHUNKS }, (_, index) => {
    const piece = Buffer.from(loop.buffer, index * CHUNK_SAMPLES * 2, CHUNK_SAMPLES * 2);
    return message('input_audio_data', { data: piece.toString('base64') });
  });
}

function taskFrame(targets) {
  const format = { type: 'ws', format: 'pcm_s16le', sample_rate: RATE, channels: 1 };
  return message('set_task', {
    input_stream: { content_type: 'audio', source: format },
    output_stream: { content_type: 'audio', target: format },
    pipeline: {
      preprocessing: {},
      transcription: { source_language: 'en' },
      translations: LANGUAGES.slice(0, targets).map((target_language) => ({
        target_language,
        speech_generation: {},
      })),
    },
  });
}

/** Reads a server's frames from a socket: reports their opcodes and skips their contents. */
function createReader(tell) {
  let rest = Buffer.alloc(0);
  let skip = 0;
  return (data) => {
    let bytes = rest.length > 0 ? Buffer.concat([rest, data]) : data;
    for (;;) {
      const gone = Math.min(skip, bytes.length);
      skip -= gone;
      bytes = bytes.subarray(gone);
      const size = bytes.length < 2 ? 10 : bytes[1] === 126 ? 4 : bytes[1] === 127 ? 10 : 2;
      if (skip > 0 || bytes.length < size) break;
      skip = size === 2 ? bytes[1] : size === 4 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
      tell(bytes[0] & 15);
      bytes = bytes.subarray(size);
    }
    rest = Buffer.from(bytes);
  };
}

/** Opens a stream that speaks, and counts its events in `seen`. */
function openStream(url, index, { frames, task }, seen) {
  const socket = connect(Number(url.port), url.hostname);
  socket.setNoDelay();
  socket.on('error', () => {});
  let isOpen = false;
  let pingedAt = 0;
  let chunk = Math.floor(Math.random() * CHUNKS);
  const lost = setTimeout(() => socket.destroy(), HANDSHAKE_MS);
  const read = createReader((opcode) => {
    if (opcode === 9) socket.write(frame(10));
    if (opcode !== 10 || pingedAt === 0) return;
    seen.pings.push(performance.now() - pingedAt);
    pingedAt = 0;
  });
  const speak = (startedAt, sent) => {
    if (socket.destroyed) return;
    socket.write(frames[chunk++ % CHUNKS]);
    setTimeout(
      () => speak(startedAt, sent + 1),
      Math.max(0, startedAt + (sent + 1) * CHUNK_MS - performance.now()),
    );
  };
  const ping = () => {
    if (socket.destroyed) return;
    if (pingedAt === 0) {
      pingedAt = performance.now();
      socket.write(frame(9));
    }
    setTimeout(ping, PING_MS);
  };
  socket.on('data', (data) => {
    if (isOpen) return read(data);
    const end = data.indexOf('\r\n\r\n');
    if (!data.toString('latin1', 0, 12).endsWith('101') || end < 0) return socket.destroy();
    isOpen = true;
    clearTimeout(lost);
    seen.open++;
    socket.write(task);
    setTimeout(() => speak(performance.now(), 0), SETTLE_MS + Math.random() * CHUNK_MS);
    setTimeout(ping, Math.random() * PING_MS);
    read(data.subarray(end + 4));
  });
  socket.write(
    `GET /streaming-api/load-${index}/v1/speech-to-speech/stream?token=emulator-api-key HTTP/1.1\r\nHost: ${url.host}\r\n` +
      'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
}

async function main() {
  const { values } = parseArgs({
    options: {
      streams: { type: 'string', default: '500' },
      translate: { type: 'string', default: 'transform' },
      targets: { type: 'string', default: '1' },
      seconds: { type: 'string', default: '20' },
      json: { type: 'boolean', default: false },
    },
  });
  const streams = Number(values.streams);
  const program = fileURLToPath(new URL('../dist/emulator.mjs', import.meta.url));
  const args = ['run', '--concurrent', String(streams), '--translate', values.translate];
  const emulator = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [first] = await createInterface(emulator.stdout)
      [Symbol.asyncIterator]()
      .next()
      .then(({ value }) => [value]);
    const url = new URL(JSON.parse(first).listening);
    const said = { frames: soundFrames(), task: taskFrame(Number(values.targets)) };
    const seen = { open: 0, pings: [] };
    for (let index = 0; index < streams; index++) openStream(url, index, said, seen);
    await sleep(Number(values.seconds) * 1000);
    const metrics = await (await fetch(new URL('/emulator/metrics', url))).json();
    const pings = seen.pings.sort((a, b) => a - b);
    const at = (share) =>
      Math.round(pings[Math.min(pings.length - 1, Math.floor(share * pings.length))] ?? -1);
    const sum = (key) => metrics.streams.reduce((total, stream) => total + stream[key], 0);
    const result = {
      streams,
      translate: values.translate,
      handshakes_lost: streams - seen.open,
      ping_ms: { p50: at(0.5), p99: at(0.99), max: at(1) },
      sentences: sum('segments'),
      speeches_late: sum('speeches_late'),
      ...metrics.load,
    };
    process.stdout.write(
      `${values.json ? JSON.stringify({ load: result }) : JSON.stringify(result, null, 2)}\n`,
    );
  } finally {
    emulator.kill();
  }
  process.exit();
}

await main();
