/**
 * The baseline: microphone to service to loudspeaker in as little code as possible. It opens its session with the
 * account's key, and has no checks, no recovery and no log.
 * Usage: node bare-loop.mjs '{"service","key","stream","task","chunkBytes","capture":[...],"playback":[...]}'
 */
import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { WebSocket } from 'ws';

const { service, key, stream, task, chunkBytes, capture, playback } = JSON.parse(process.argv[2]);

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
  const loudspeaker = spawn(playback[0], playback.slice(1), { stdio: ['pipe', 'ignore', 'ignore'] });
  let asking;
  let isRunning = false;
  socket.on('open', () => {
    send('set_task', task);
    asking = setInterval(send, 2600, 'get_task', {});
  });
  socket.on('message', (text) => {
    const { message_type: type, data } = JSON.parse(text);
    if (type === 'output_audio_data') loudspeaker.stdin.write(Buffer.from(data.data, 'base64'));
    else if (type === 'current_task' && !isRunning) {
      isRunning = true;
      clearInterval(asking);
      listen(send);
    }
  });
  socket.on('close', () => process.exit());
}

function listen(send) {
  const microphone = spawn(capture[0], capture.slice(1), { stdio: ['ignore', 'pipe', 'ignore'] });
  let held = [];
  let bytes = 0;
  microphone.stdout.on('data', (piece) => {
    held.push(piece);
    bytes += piece.length;
    while (bytes >= chunkBytes) {
      const all = held.length === 1 ? held[0] : Buffer.concat(held);
      send('input_audio_data', { data: all.toString('base64', 0, chunkBytes) });
      held = [all.subarray(chunkBytes)];
      bytes -= chunkBytes;
    }
  });
}
