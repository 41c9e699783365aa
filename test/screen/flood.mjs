/** Sends requests to an address as fast as told, until it is ended. Usage: node flood.mjs URL REQUESTS_PER_SECOND ENOUGH. It says when enough were answered. */
import { Agent, get } from 'node:http';

const [, , url, perSecond, enough] = process.argv;
const agent = new Agent({ keepAlive: true, maxSockets: 50 });
let answered = 0;
const ask = () => {
  const sent = get(url, { agent }, (response) => {
    answered += 1;
    if (answered === Number(enough)) process.stdout.write('enough\n');
    response.resume();
  });
  sent.on('error', () => {});
};
setInterval(() => {
  for (let count = 0; count < Number(perSecond) / 100; count++) ask();
}, 10);
