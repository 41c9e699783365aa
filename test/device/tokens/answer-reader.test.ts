import { describe, expect, it } from 'vitest';
import { type AnswerFault, createAnswerReader } from '../../../src/device/tokens/answer-reader.ts';
import type { Opening } from '../../../src/ports/signature.ts';

const BASE = 'dragoman/museum/kiosk-01';
/** What a valid signature of an answer holds. */
const content = (id: string): Opening => ({
  ok: true,
  content: { typ: 'dragoman+token', payload: JSON.stringify({ id, device: BASE, iat: 0 }) },
});

function reader(signatures: { open(jws: string, opened: (opening: Opening) => void): void } | null) {
  const delivered: unknown[] = [];
  const faults: AnswerFault[] = [];
  const { receive } = createAnswerReader({
    base: BASE,
    signatures,
    awaits: () => true,
    deliver: (body) => delivered.push(body),
    refused: (fault) => faults.push(fault),
  });
  return { receive: (body: object) => receive(JSON.stringify(body), false), delivered, faults };
}

describe('answers to token requests', () => {
  it('must be signed where the configuration names keys', () => {
    const open = reader(null);
    open.receive({ id: 'a', ok: true });
    expect(open.delivered).toEqual([{ id: 'a', ok: true }]);
    const strict = reader({ open() {} });
    strict.receive({ id: 'a', ok: true });
    expect(strict).toMatchObject({ delivered: [], faults: ['unsigned'] });
  });

  it('are checked 32 at a time, and also after the first 32', () => {
    const opened: (() => void)[] = [];
    const device = reader({ open: (jws, done) => void opened.push(() => done(content(jws))) });
    const receive = (count: number): void => {
      for (let n = 0; n < count; n += 1) device.receive({ id: `r${n}`, jws: `r${n}` });
    };
    receive(33);
    expect(device.faults).toEqual(['flood']);
    for (const finish of opened.splice(0)) finish();
    receive(32);
    for (const finish of opened.splice(0)) finish();
    expect(device.faults).toEqual(['flood']);
    expect(device.delivered).toHaveLength(64);
  });
});
