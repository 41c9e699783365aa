import { describe, expect, test } from 'vitest';
import { parseFaults } from '../../src/emulator/core/fault.ts';
import { FAULT_BUTTONS, PAGE } from '../../src/emulator/page.ts';
import { SCRIPT } from '../../src/emulator/page-script.ts';
import { DEFAULT_API_KEY, DEFAULT_JWT } from '../../src/emulator/server.ts';
import { ask } from './client.ts';
import { open, start } from './started-emulator.ts';

const plain = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
const buttons = [...PAGE.matchAll(/<button type="button" data-path="([^"]+)" data-order="([^"]+)"/g)].map(
  ([, path = '', order = '']) => ({ path, order: JSON.parse(plain(order)) as object }),
);

describe('the page', () => {
  test.each(FAULT_BUTTONS.map(({ label, order }) => ({ label, order })))(
    'orders a fault with its button "$label"',
    ({ order }) => {
      const parsed = parseFaults(order);
      expect(parsed.ok ? [] : parsed.issues).toEqual([]);
    },
  );

  test('has buttons that the emulator accepts, for faults, the clock and the reset', async () => {
    expect(new Set(buttons.map(({ path }) => path))).toEqual(
      new Set(['/emulator/faults', '/emulator/clock', '/emulator/reset']),
    );
    const emulator = await start();
    await open(emulator);
    for (const { path, order } of buttons) {
      expect([path, order, (await ask(emulator, 'POST', path, order)).status < 300]).toEqual([
        path,
        order,
        true,
      ]);
    }
  });

  test('says with each button what it does', () => {
    const titles = [...PAGE.matchAll(/<button type="button"[^>]* title="([^"]{10,})"/g)];
    expect(titles).toHaveLength(buttons.length);
  });

  test('explains how to connect, and shows no credential', () => {
    expect(PAGE).toContain('/session-storage/v2/sessions');
    expect(PAGE).toContain('/v1/speech-to-speech/stream?token=$TOKEN');
    for (const secret of [DEFAULT_API_KEY, DEFAULT_JWT]) expect(PAGE).not.toContain(secret);
  });

  test('requests only existing addresses and finds the fields that it shows', async () => {
    const emulator = await start();
    const asked = [...SCRIPT.matchAll(/(?:ask|fetch)\('([^']+)'/g)].map(([, path = '']) => path);
    expect(asked.length).toBeGreaterThan(3);
    for (const path of asked) expect((await ask(emulator, 'GET', path)).status).toBe(200);
    for (const [, id = ''] of SCRIPT.matchAll(/(?:byId|getElementById)\('(\w+)'\)/g))
      expect(PAGE).toContain(`id="${id}"`);
    expect(() => new Function(SCRIPT)).not.toThrow();
  });
});
