import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { endWorker } from '../../src/adapters/worker-end.ts';

const thread = (code: string): Worker =>
  new Worker(`const { parentPort } = require('node:worker_threads');\n${code}`, { eval: true });
/** The exit code after `terminate()`. */
const ENDED_FROM_OUTSIDE = 1;

describe('ending a thread', () => {
  it('lets it finish its earlier work', async () => {
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

  it('lets it finish when it has not begun to listen', async () => {
    const worker = thread(`setTimeout(() => parentPort.on('message', () => parentPort.close()), 200);`);
    endWorker(worker);
    expect(await once(worker, 'exit')).toEqual([0]);
  });

  it('terminates it when it does not listen', async () => {
    const worker = thread(`parentPort.postMessage('busy'); while (true);`);
    await once(worker, 'message');
    endWorker(worker, 50);
    expect(await once(worker, 'exit')).toEqual([ENDED_FROM_OUTSIDE]);
  });

  it('does nothing when it has ended already', async () => {
    const worker = thread('');
    await once(worker, 'exit');
    expect(() => endWorker(worker)).not.toThrow();
  });
});
