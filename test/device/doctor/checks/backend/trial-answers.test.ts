import { describe, expect, it } from 'vitest';
import { createTrialAnswers } from '../../../../../src/device/doctor/checks/backend/trial-answers.ts';
import type { SignedContentReader } from '../../../../../src/device/guard/signed-content.ts';

const BASE = 'dragoman/v1/museum/kiosk-01';

function trial(signatures: SignedContentReader | null = null) {
  const bodies: unknown[] = [];
  const faults: string[] = [];
  const receive = createTrialAnswers(BASE, signatures, {
    pending: ['trial'],
    ask: () => Promise.reject(new Error('not asked')),
    receive: (body) => bodies.push(body) > 0,
    refused: (why) => void faults.push(why),
  });
  return {
    bodies,
    faults,
    receive: (body: object) => receive({ payload: JSON.stringify(body), retained: false }),
  };
}

/** Signatures that are valid; the test ends the checks. */
function slowReader() {
  const opened: (() => void)[] = [];
  const payload = JSON.stringify({ id: 'trial', device: BASE });
  const reader: SignedContentReader = {
    open: (_, done) =>
      void opened.push(() => done({ ok: true, content: { typ: 'dragoman+token', payload } })),
  };
  return { opened, reader };
}

describe('the answers to a trial of the backend', () => {
  it('are read without keys, and must be signed where the configuration names keys', () => {
    const open = trial();
    open.receive({ id: 'trial', ok: true });
    expect(open.bodies).toEqual([{ id: 'trial', ok: true }]);
    const strict = trial(slowReader().reader);
    strict.receive({ id: 'trial', ok: true });
    expect(strict.bodies).toEqual([]);
    expect(strict.faults).toEqual(['it is not signed, and the configuration names owner.publicKeyFiles']);
  });

  it('do not include signed answers for a running agent, which are no fault', () => {
    const { reader, opened } = slowReader();
    const doctor = trial(reader);
    doctor.receive({ id: 'of-the-agent', jws: 'a.b.c' });
    expect([opened, doctor.bodies, doctor.faults]).toEqual([[], [], []]);
  });

  it('are checked 32 at a time, and also after the first 32', () => {
    const { reader, opened } = slowReader();
    const doctor = trial(reader);
    for (const _ of [1, 2]) {
      for (let answers = 0; answers < 33; answers += 1) doctor.receive({ id: 'trial', jws: 'a.b.c' });
      for (const finish of opened.splice(0)) finish();
    }
    expect(doctor.bodies).toHaveLength(64);
    expect(doctor.faults).toEqual(['too many came at once', 'too many came at once']);
  });
});
