import { describe, expect, it } from 'vitest';
import { saidLines, startLine, startLines } from '../../../src/installer/core/start-text.ts';

const troubles = [
  { code: 'wifi_password_wrong', detail: 'the access point refuses the password', isCertain: true },
  { code: 'no_microphone', detail: '', isCertain: false },
] as const;
const wall = Date.UTC(2026, 10, 22, 10, 20, 30);

describe('the state of the kiosk in writing', () => {
  it('is a sentence when it is ready, also in its own language', () => {
    const said = [{ device: 'plughw:CARD=Speaker', trouble: null }];
    expect(startLines({ state: { kind: 'ready' }, language: 'de', wall, said })).toEqual([
      'Dragoman: how the kiosk is after its start',
      'Time:   2026-11-22 10:20:30 UTC',
      'State:  ready. The kiosk is ready.',
      '        Der Kiosk ist bereit.',
      '',
      'Announced on plughw:CARD=Speaker.',
    ]);
  });

  it('lists each problem with its finding and its fix', () => {
    const state = { kind: 'troubled', troubles, isWatched: true } as const;
    expect(startLines({ state, language: 'en', wall: null, said: null })).toEqual([
      'Dragoman: how the kiosk is after its start',
      'Time:   not known: the clock is not set',
      'State:  wifi_password_wrong. The Wi-Fi password is wrong. Please correct the file dragoman.json on the card.',
      '        Found: the access point refuses the password',
      '        To do: Correct wifi.passphrase in dragoman.json on the card.',
      'State:  no_microphone. There is no microphone. Please plug it in.',
      '        To do: Plug it in, or name another in capture.device; dragoman devices lists the available ones.',
    ]);
    const over = startLines({ state: { ...state, isWatched: false }, language: 'en', wall, said: [] });
    expect(over.slice(-3)).toEqual([
      'Checking has ended: restart the kiosk after this is fixed.',
      '',
      'Not announced: there is no loudspeaker.',
    ]);
  });

  it('says that the kiosk is starting', () => {
    const state = { kind: 'starting', troubles: [] } as const;
    expect(startLines({ state, language: 'en', wall, said: null })[2]).toMatch(/^State: {2}starting/);
  });

  it('is one line for the journal', () => {
    expect(startLine({ kind: 'ready' })).toBe('The kiosk is ready.');
    expect(startLine({ kind: 'starting', troubles: [] })).toBe('The kiosk is starting.');
    expect(startLine({ kind: 'starting', troubles: [troubles[1]] })).toBe(
      'The kiosk is starting. There is no microphone. Please plug it in.',
    );
    expect(startLine({ kind: 'troubled', troubles, isWatched: true })).toBe(
      'The Wi-Fi password is wrong. Please correct the file dragoman.json on the card. (the access point refuses the password) There is no microphone. Please plug it in.',
    );
  });

  it('lists where a phrase was played and where not', () => {
    expect(
      saidLines([
        { device: 'one', trouble: null },
        { device: 'two', trouble: 'busy, held by mpd' },
        { device: 'three', trouble: null },
      ]),
    ).toEqual(['Announced on one, three.', 'Not announced on two: busy, held by mpd.']);
  });
});
