/**
 * The bare loop with two packages for sound in the process itself, instead of arecord and aplay.
 * Usage: node addon-loop.mjs '{"service","key","stream","task","chunkBytes","packages","device","rateHz"}'
 */
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { WebSocket } from 'ws';

const { service, key, stream, task, chunkBytes, packages, device, rateHz } = JSON.parse(process.argv[2]);
const load = createRequire(join(packages, 'package.json'));
const AlsaCapture = load('alsa-capture');
const Speaker = load('speaker');

// Neither package ends while it captures or plays; only a kill ends it.
process.on('SIGTERM', () => process.kill(process.pid, 'SIGKILL'));

const ask = request(`${service}/session-storage/v2/sessions`, {
  method: 'POST',
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
});
ask.on('response', async (response) => {
  const { data } = JSON.parse(Buffer.concat(await response.toArray()).toString());
  run(new WebSocket(`${stream}?token=${data.token}`, { perMessageDeflate: false }));
});
ask.end('{"intent":"s2s"}');

function run(socket) {
  const send = (type, data) => socket.send(JSON.stringify({ message_type: type, data }));
  let loudspeaker = null;
  let asking;
  let isRunning = false;
  const speak = (pcm) => {
    // The loudspeaker closes itself when it runs out of sound.
    loudspeaker ??= new Speaker({ channels: 1, bitDepth: 16, sampleRate: rateHz, signed: true, device }).on(
      'error',
      () => {},
    );
    loudspeaker.write(pcm);
  };
  socket.on('open', () => {
    send('set_task', task);
    asking = setInterval(send, 2600, 'get_task', {});
  });
  socket.on('message', (text) => {
    const { message_type: type, data } = JSON.parse(text);
    if (type === 'output_audio_data') speak(Buffer.from(data.data, 'base64'));
    else if (type === 'current_task' && !isRunning) {
      isRunning = true;
      clearInterval(asking);
      listen(send);
    }
  });
  socket.on('close', () => process.kill(process.pid, 'SIGKILL'));
}

function listen(send) {
  const periodSize = chunkBytes / 2;
  const microphone = new AlsaCapture({
    channels: 1,
    rate: rateHz,
    format: 'S16_LE',
    device,
    periodSize,
    periodTime: undefined,
  });
  let held = [];
  let bytes = 0;
  microphone.on('audio', (piece) => {
    held.push(Buffer.from(piece));
    bytes += piece.length;
    while (bytes >= chunkBytes) {
      const all = held.length === 1 ? held[0] : Buffer.concat(held);
      send('input_audio_data', { data: all.toString('base64', 0, chunkBytes) });
      held = [all.subarray(chunkBytes)];
      bytes -= chunkBytes;
    }
  });
}
