/** Sends requests to an address as fast as told. Usage: node flood.mjs URL REQUESTS_PER_SECOND. It prints how many were answered. */
import { Agent, get } from 'node:http';

const [, , url, perSecond] = process.argv;
const agent = new Agent({ keepAlive: true, maxSockets: 50 });
let answered = 0;
const ask = () => {
  const sent = get(url, { agent }, (response) => {
    answered += 1;
    response.resume();
  });
  sent.on('error', () => {});
};
setInterval(() => {
  for (let count = 0; count < Number(perSecond) / 100; count++) ask();
}, 10);
process.on('SIGTERM', () => {
  process.stdout.write(`${answered}\n`);
  process.exit(0);
});
