import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { endWorker } from '../../src/adapters/worker-end.ts';

const thread = (code: string): Worker =>
  new Worker(`const { parentPort } = require('node:worker_threads');\n${code}`, { eval: true });
/** What `terminate()` leaves. */
const ENDED_FROM_OUTSIDE = 1;

describe('a thread that is ended', () => {
  it('ends by itself, once what it was given before is done', async () => {
    const worker = thread(`parentPort.on('message', (message) => {
      if (message === null) return parentPort.close();
      parentPort.postMessage(message * 2);
    });`);
    const answers: number[] = [];
    worker.on('message', (answer: number) => answers.push(answer));
    worker.postMessage(21);
    endWorker(worker);
    expect(await once(worker, 'exit')).toEqual([0]);
    expect(answers).toEqual([42]);
  });

  it('ends so also while it has not begun to listen', async () => {
    const worker = thread(`setTimeout(() => parentPort.on('message', () => parentPort.close()), 200);`);
    endWorker(worker);
    expect(await once(worker, 'exit')).toEqual([0]);
  });

  it('is ended where it does not listen', async () => {
    const worker = thread(`parentPort.postMessage('busy'); while (true);`);
    await once(worker, 'message');
    endWorker(worker, 50);
    expect(await once(worker, 'exit')).toEqual([ENDED_FROM_OUTSIDE]);
  });

  it('may have ended already', async () => {
    const worker = thread('');
    await once(worker, 'exit');
    expect(() => endWorker(worker)).not.toThrow();
  });
});
