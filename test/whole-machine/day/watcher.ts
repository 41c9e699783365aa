/**
 * Runs in a machine with virtual time: writes each message of the device as a line of JSON, and sends it a command from time to
 * time. Arguments: the port for people, Anna's folder, the output file.
 */
import { openSync, writeSync } from 'node:fs';
import { watch } from '../owner-client.ts';

const WRITE_EACH_MS = 5000;
const COMMAND_EACH_MS = 900_000;

const [port = '', login = '', virtioPort = ''] = process.argv.slice(2);
const out = openSync(virtioPort, 'w');
const owner = await watch(Number(port), login);
let commands = 0;
setInterval(() => {
  for (const { topic, text } of owner.messages) writeSync(out, `${JSON.stringify({ topic, text })}\n`);
  owner.forget();
}, WRITE_EACH_MS);
setInterval(() => {
  commands += 1;
  const args = { percent: 60 + (commands % 40) };
  void owner.publish('cmd/volume', { id: `day-${commands}`, args });
}, COMMAND_EACH_MS);
