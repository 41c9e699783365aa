import { afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { openPageServer, type PageServer } from '../../../src/adapters/screen/page-server.ts';
import { showConsole } from '../../../src/cli/screen/show-console.ts';
import { createFakeSource } from '../../adapters/screen/fake-source.ts';

const clock = createSystemClock();
let server: PageServer;
let end = async (): Promise<void> => {};
afterEach(() => end());

async function show() {
  const fake = createFakeSource();
  const options = { token: 'page-token', files: { script: '', style: '' }, source: fake.source, clock };
  server = await openPageServer({ port: 0, ...options });
  const port = Number(new URL(server.url).port);
  const written: string[] = [];
  let finish = (): void => {};
  const asked = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const output = { write: (text: string) => void written.push(text) };
  const done = showConsole(server.url, clock, output, asked);
  end = async () => {
    finish();
    await done;
    await server.close();
  };
  const picture = () => written.at(-1) ?? '';
  return {
    fake,
    written,
    picture,
    end,
    until: (text: string) => expect.poll(picture).toContain(text),
    async restart() {
      await server.close();
      await expect.poll(picture).toContain('No connection');
      fake.restart('run-2');
      server = await openPageServer({ port, ...options });
    },
  };
}

describe('dragoman screen --tty', () => {
  it('shows captions as they come, and clears the console at its end', async () => {
    const { fake, picture, until, end: finish } = await show();
    await until('English: Listening');
    fake.change({
      texts: [{ language: 'en', text: 'Where is ', breaks: false, isSpoken: false, number: 1 }],
    });
    fake.change({
      texts: [{ language: 'en', text: 'the lift?', breaks: false, isSpoken: false, number: 2 }],
    });
    await until('Where is the lift?');
    await finish();
    end = async () => {};
    expect(picture()).toBe('\u001b[H\u001b[J');
  });

  it('shows the page of the next run when the agent has started again', async () => {
    const { fake, until, restart } = await show();
    fake.change({
      texts: [{ language: 'en', text: 'words before', breaks: false, isSpoken: false, number: 1 }],
    });
    await until('words before');
    await restart();
    await until('English: Listening');
    await until('Please speak');
  });

  it('writes only when something has changed', async () => {
    const { fake, written, until } = await show();
    await until('English: Listening');
    const before = written.length;
    fake.change({ status: { kind: 'listening' } });
    fake.change({ level: 5 });
    await until('#####');
    expect(written.length - before).toBe(1);
  });
});
