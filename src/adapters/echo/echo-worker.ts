/** The canceller's thread: receives captured sound and returns it without the loudspeaker's echo. */
import { parentPort, workerData } from 'node:worker_threads';
import { END, type End } from '../worker-end.ts';
import { createEchoFilter } from './echo-filter.ts';
import type { EchoRates, FromEchoThread, ToEchoThread } from './message.ts';

const port = parentPort;
if (port === null) throw new Error('this is a part of dragoman, not a program of its own');

const filter = createEchoFilter(workerData as EchoRates);
let timesFound = 0;
const answer = (message: FromEchoThread): void => port.postMessage(message);

port.on('message', (message: ToEchoThread | End) => {
  if (message === END) return port.close();
  switch (message.type) {
    case 'played':
      return filter.played(message.pcm, message.heardAt, message.goesOn, message.place);
    case 'flushed':
      return filter.flushed(message.at, message.place);
    case 'captured': {
      const pieces = message.pieces.map(({ pcm, capturedAt }) => filter.filter(pcm, capturedAt));
      const found = filter.found !== timesFound;
      timesFound = filter.found;
      return answer({ type: 'frames', pieces, rests: filter.rests, found });
    }
  }
});
answer({ type: 'ready' });
