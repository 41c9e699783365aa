/**
 * Runs in a machine that lives in a time of its own: writes down all that the device says, a line of JSON each, and sends it a command
 * now and then. Words: the port for people, Anna's folder, where to write.
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
