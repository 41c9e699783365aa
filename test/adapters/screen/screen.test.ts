import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { openScreen, type Screen } from '../../../src/device/screen/screen.ts';
import type { ScreenAction } from '../../../src/protocol/screen.ts';
import { createFakeDeps, testConfig } from '../../device/fake-deps.ts';
import { freePort } from '../../free-port.ts';
import { translated, understood } from '../../service-events.ts';

const FILES = { script: '', style: '' };
let screens: Screen[] = [];
afterEach(async () => {
  for (const screen of screens) await screen.close();
  screens = [];
});

async function open(
  port: number,
  files: { script: string; style: string } | null = FILES,
  more: object = {},
) {
  const fake = createFakeDeps(testConfig({}, { ...more, screen: { enabled: true, port } }));
  const { agent, clock, config, deps } = fake;
  const actions: ScreenAction[] = [];
  const screen = await openScreen({
    agent,
    config,
    clock,
    log: deps.log,
    randomHash: () => 'random-hash',
    onAction: (action) => actions.push(action),
    ...(files === null ? {} : { files }),
  });
  screens.push(screen);
  return { fake, screen, actions };
}

const reasonsOf = ({ fake }: Awaited<ReturnType<typeof open>>) => fake.agent.publisher.status().reasons;

describe('the screen of an agent', () => {
  it('serves the page at the configured port', async () => {
    const port = await freePort();
    const { screen, fake } = await open(port);
    expect(screen.url).toBe(`http://127.0.0.1:${port}`);
    expect((await fetch(`${screen.url}/`)).status).toBe(200);
    expect(fake.logged.some(([, sentence]) => sentence === 'the page for the screen is served')).toBe(true);
  });

  it.each([
    ['/nowhere/phrases', 1],
    [null, 0],
  ])('logs once that a phrase is only shown: folder %s', async (folder, lines) => {
    const list = [{ en: 'Please wait here.', es: 'Espere aquí.' }];
    const { screen, fake } = await open(await freePort(), FILES, { phrases: { folder, list } });
    for (let touch = 0; touch < 3; touch++)
      await screen.act({ do: 'phrase', lane: 'main', number: 0, language: 'es' });
    const told = fake.logged.filter(([, sentence]) => sentence === 'a phrase is shown, but not spoken');
    expect(told).toHaveLength(lines);
  });

  it('reports that the port is in use, and serves the page when it is free again', async () => {
    const port = await freePort();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
    const opened = await open(port);
    const { screen, fake } = opened;
    expect(screen.url).toBeNull();
    expect(reasonsOf(opened)).toContain('screen:EADDRINUSE');
    expect(JSON.stringify(fake.logged)).toContain(
      `port ${port} cannot be used (another program uses this address and port)`,
    );
    await new Promise((resolve) => other.close(resolve));
    fake.clock.advance(30_000);
    await expect.poll(() => screen.url).toBe(`http://127.0.0.1:${port}`);
    expect(reasonsOf(opened)).not.toContain('screen:EADDRINUSE');
  });

  it('reports that the page’s files are missing', async () => {
    const opened = await open(await freePort(), null);
    expect(reasonsOf(opened)).toContain('screen:ENOENT');
    expect(JSON.stringify(opened.fake.logged)).toContain('screen.js or screen.css is not beside the program');
  });

  it('does not count against a lane that works', async () => {
    const opened = await open(await freePort(), null);
    await opened.fake.goLive();
    expect(opened.fake.agent.lanes[0]?.phase).toBe('live');
  });

  it('sends a page the snapshot first when things have changed since the last page', async () => {
    const { screen, fake } = await open(await freePort());
    await fake.goLive();
    const ended = new AbortController();
    const { body } = await fetch(`${screen.url}/events`, { signal: ended.signal });
    const { value } = (await body?.getReader().read()) ?? {};
    expect(new TextDecoder().decode(value)).toMatch(/^retry: 1000\nevent: snapshot\nid: \d+\ndata: \{"run"/);
    ended.abort();
  });

  it('ends the conversation by the button, with its words', async () => {
    const { screen, fake } = await open(await freePort());
    await fake.goLive();
    fake.service(understood({ id: 't1', text: 'words of a visitor' }));
    await fake.agent.carryOut('conversation', { do: 'begin' });
    const headers = { 'X-Page-Token': 'random-hash', Origin: screen.url ?? '' };
    const answer = await fetch(`${screen.url}/do`, { method: 'POST', headers, body: '{"do":"end"}' });
    expect(answer.status).toBe(200);
    expect(fake.sent('event/conversation_ended')).toHaveLength(1);
    const { body } = await fetch(`${screen.url}/events`);
    const reader = body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toMatch(/"texts":\[\]/);
    await reader?.cancel();
  });

  it('carries out what a program does, and reports only what a page requests', async () => {
    const { screen, fake, actions } = await open(await freePort());
    await fake.goLive();
    expect(await screen.act({ do: 'touch', lane: 'main' })).toBeNull();
    expect(fake.sent('event/conversation_started')).toHaveLength(1);
    expect(await screen.act({ do: 'touch', lane: 'other' })).toMatchObject({ code: 'stopped' });
    expect(actions).toEqual([]);
    const headers = { 'X-Page-Token': 'random-hash', Origin: screen.url ?? '' };
    await fetch(`${screen.url}/do`, { method: 'POST', headers, body: '{"do":"end"}' });
    expect(actions).toEqual([{ do: 'end' }]);
  });

  it('forgets by the button also words that came after the end of the conversation', async () => {
    const { screen, fake } = await open(await freePort());
    await fake.goLive();
    fake.service(understood({ id: 't1', text: 'words of a visitor' }));
    await fake.agent.carryOut('conversation', { do: 'end' });
    fake.service(translated({ id: 't1', part: '0', text: 'palabras de un visitante' }));
    const shown = async (): Promise<string> => {
      const { body } = await fetch(`${screen.url}/events`);
      const reader = body?.getReader();
      const { value } = (await reader?.read()) ?? {};
      await reader?.cancel();
      return new TextDecoder().decode(value);
    };
    expect(await shown()).toContain('palabras de un visitante');
    const headers = { 'X-Page-Token': 'random-hash', Origin: screen.url ?? '' };
    const answer = await fetch(`${screen.url}/do`, { method: 'POST', headers, body: '{"do":"end"}' });
    expect(answer.status).toBe(200);
    expect(await shown()).toMatch(/"texts":\[\]/);
    // The conversation had ended before.
    expect(fake.sent('event/conversation_ended')).toHaveLength(1);
  });

  it('frees the port and forgets the words when it is closed', async () => {
    const { screen, fake } = await open(await freePort());
    await fake.goLive();
    fake.service(understood({ id: 't1', text: 'words of a visitor' }));
    const url = screen.url ?? '';
    await screen.close();
    await expect(fetch(url)).rejects.toThrow();
    expect(JSON.stringify(fake.logged)).not.toContain('visitor');
  });
});
