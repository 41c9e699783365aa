import { describe, expect, it } from 'vitest';
import { ready, rejected } from '../../service-events.ts';
import { laneOf, quietDesk, said } from './desk.ts';

const OFFER = { offer: ['es', 'fr', 'en', 'ja'] };
const SILENT = { conversation: { notice: false } };
type Deps = Awaited<ReturnType<typeof quietDesk>>;
const targets = (deps: Deps): readonly string[] => laneOf(deps).state.options.targets;
/** The service answers that the new task runs. */
async function taskRuns(deps: Deps): Promise<void> {
  deps.clock.advance(3000);
  deps.lastStream().listener.pong();
  deps.service(ready());
  await deps.clock.elapse(2000);
}

describe('languages with "step"', () => {
  it('chooses the next language of the offer, past the source, and speaks its own name', async () => {
    const deps = await quietDesk(SILENT, OFFER);
    deps.ask('languages', { step: 1 });
    expect(said(deps)).toEqual([]);
    await taskRuns(deps);
    expect(targets(deps)).toEqual(['fr']);
    expect(said(deps)).toEqual([['Français', 'fr']]);
    expect(deps.answers('languages').at(-1)).toMatchObject({ status: 'ok' });
    // The service is done with the name.
    deps.service(rejected('no such voice'));
    deps.ask('languages', { step: 1 });
    await taskRuns(deps);
    expect(targets(deps)).toEqual(['ja']);
    expect(said(deps).at(-1)).toEqual(['日本語', 'ja']);
  });

  it('speaks only the last name when a key is pressed several times', async () => {
    const deps = await quietDesk(SILENT, { offer: ['es', 'fr', 'de', 'it'] });
    for (let press = 0; press < 3; press++) deps.ask('languages', { step: 1 });
    // The service takes the first language, and then the last.
    await taskRuns(deps);
    await taskRuns(deps);
    expect(targets(deps)).toEqual(['it']);
    expect(said(deps)).toEqual([['Italiano', 'it']]);
  });

  it('speaks no name when the service refuses the language', async () => {
    const deps = await quietDesk(SILENT, OFFER);
    deps.ask('languages', { step: 1 });
    deps.service(rejected('unknown language fr'));
    await deps.clock.elapse(3000);
    expect(deps.answers('languages').at(-1)).toMatchObject({ error: { code: 'rejected' } });
    expect(said(deps)).toEqual([]);
  });

  it("changes the source where the visitor's language is the source", async () => {
    const deps = await quietDesk(SILENT, { source: 'de', targets: ['en'], offer: ['de', 'fr'] });
    deps.ask('languages', { step: 1 });
    await taskRuns(deps);
    expect(laneOf(deps).state.options).toMatchObject({ source: 'fr', targets: ['en'] });
    expect(said(deps)).toEqual([['Français', 'fr']]);
  });

  it('gives the notice in the new language too', async () => {
    const deps = await quietDesk({}, { offer: ['es', 'fr'] });
    deps.ask('conversation', { do: 'begin' });
    await deps.clock.elapse(0);
    expect(said(deps)).toMatchObject([[expect.any(String), 'es']]);
    deps.service(rejected());
    deps.ask('languages', { step: 1 });
    expect(laneOf(deps).state.conversation?.notice?.language).toBe('fr');
  });
});
