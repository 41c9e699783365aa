/** Documents and commands of an owner. `owner.long.test.ts`: the oracles find agents that handle them wrongly. */
import { describe, expect, it } from 'vitest';
import { inEffect } from './desired-model.ts';
import { phasesReached, testOwned } from './owner-tests.ts';

describe('an agent with an owner', () => {
  testOwned({ seeds: [700], hours: 0.2 });
});

describe('messages of an owner', () => {
  it('reach a lane in its most frequent phases', async () => {
    const reached = await phasesReached([16], 0.15);
    for (const phases of Object.values(reached)) {
      expect([...phases]).toEqual(expect.arrayContaining(['idle', 'acquiring', 'connecting', 'live']));
    }
  });
});

describe('the model of the effective configuration', () => {
  const lane = {
    id: 'main',
    source: 'en',
    targets: ['es'],
    voice: null,
    echo: 'off',
    start: 'boot',
    standbyAfter: 1,
  };
  const own = { lanes: [lane], log: { level: 'info' } };
  const document = (values: object, wrong: readonly string[] = []) => ({
    version: 1,
    logLevel: null,
    wrong,
    lanes: [{ at: 0, lane: null, values }],
  });

  it('takes each key from the latest document, and refuses languages that clash', () => {
    const { effective, refused } = inEffect(own, [
      { from: 'group:a', content: document({ echo: 'cancel', standbyAfter: 7 }, ['lanes[0].start']) },
      { from: 'device', content: document({ echo: 'half-duplex', source: 'es' }) },
    ]);
    expect(effective.lanes).toEqual([{ ...lane, echo: 'half-duplex', standbyAfter: 7 }]);
    expect([...refused]).toEqual(['group:a lanes[0].start', 'device lanes[0].source']);
  });

  it('keeps what the document before had in force for each refused key', () => {
    const before = inEffect(own, [
      { from: 'device', content: document({ echo: 'cancel', targets: ['fr'] }) },
    ]);
    const kept = before.inForce.get('device');
    const next = document({ targets: ['en'] }, ['lanes[0].echo']);
    const { effective } = inEffect(own, [{ from: 'device', content: next, kept }]);
    expect(effective.lanes).toEqual([{ ...lane, echo: 'cancel', targets: ['fr'] }]);
    expect(inEffect(own, [{ from: 'device', content: document({}), kept }]).effective.lanes).toEqual([lane]);
  });
});
