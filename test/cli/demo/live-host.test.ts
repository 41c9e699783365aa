import { describe, expect, it } from 'vitest';
import { capabilitiesOf, isLiveTerminal } from '../../../src/cli/demo/live-host.ts';
import { TinyTerminal } from './tiny-terminal.ts';

class ColourTerminal extends TinyTerminal {
  override hasColors(): boolean {
    return true;
  }
}

describe('capabilities of a terminal', () => {
  it.each([
    [{ LANG: 'en_GB.UTF-8' }, true],
    [{ LANG: 'C', LC_ALL: 'C.utf8' }, true],
    [{ LANG: 'en_GB.UTF-8', LC_ALL: 'C' }, false],
    [{ LANG: 'en_GB.UTF-8', LC_CTYPE: 'de_DE.ISO-8859-1' }, false],
    [{ LANG: 'de_DE.UTF-8', TERM: 'linux' }, false],
    [{ WT_SESSION: 'some-id' }, true],
    [{}, false],
  ])('include non-ASCII signs with %j: %s', (env, unicode) => {
    expect(capabilitiesOf(new TinyTerminal(), env).unicode).toBe(unicode);
  });

  it('include colours when the terminal has them and NO_COLOR is not set', () => {
    expect(capabilitiesOf(new ColourTerminal(), {}).colour).toBe(true);
    expect(capabilitiesOf(new ColourTerminal(), { NO_COLOR: '' }).colour).toBe(true);
    expect(capabilitiesOf(new ColourTerminal(), { NO_COLOR: '1' }).colour).toBe(false);
    expect(capabilitiesOf(new TinyTerminal(), {}).colour).toBe(false);
  });

  it('allow a live view only when the cursor can move', () => {
    expect(isLiveTerminal({ isTTY: true }, { TERM: 'xterm' })).toBe(true);
    expect(isLiveTerminal({ isTTY: true }, { TERM: 'dumb' })).toBe(false);
    expect(isLiveTerminal({}, { TERM: 'xterm' })).toBe(false);
  });
});
