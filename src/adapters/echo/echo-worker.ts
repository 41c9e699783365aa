/** The canceller's thread: what the lane captured goes in, what the loudspeaker added to it stays here. */
import { parentPort, workerData } from 'node:worker_threads';
import { loadEchoFilter } from './echo-filter.ts';
import type { EchoRates, FromEchoThread, ToEchoThread } from './message.ts';

const port = parentPort;
if (port === null) throw new Error('this is a part of dragoman, not a program of its own');

const filter = await loadEchoFilter(workerData as EchoRates);
const answer = (message: FromEchoThread, moved: ArrayBuffer[] = []): void => port.postMessage(message, moved);

port.on('message', (message: ToEchoThread) => {
  switch (message.type) {
    case 'played':
      return filter.played(message.pcm, message.heardAt, message.goesOn);
    case 'flushed':
      return filter.flushed(message.at);
    case 'captured': {
      const { pcm, capturedAt } = filter.filter(message.pcm, message.capturedAt);
      return answer(
        { type: 'frames', pcm, capturedAt },
        pcm.buffer instanceof ArrayBuffer ? [pcm.buffer] : [],
      );
    }
  }
});
answer({ type: 'ready' });
