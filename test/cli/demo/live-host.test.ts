import { describe, expect, it } from 'vitest';
import { capabilitiesOf, isLiveTerminal } from '../../../src/cli/demo/live-host.ts';
import { TinyTerminal } from './tiny-terminal.ts';

class ColourTerminal extends TinyTerminal {
  override hasColors(): boolean {
    return true;
  }
}

describe('what a terminal can do', () => {
  it.each([
    [{ LANG: 'en_GB.UTF-8' }, true],
    [{ LANG: 'C', LC_ALL: 'C.utf8' }, true],
    [{ LANG: 'en_GB.UTF-8', LC_ALL: 'C' }, false],
    [{ LANG: 'en_GB.UTF-8', LC_CTYPE: 'de_DE.ISO-8859-1' }, false],
    [{ LANG: 'de_DE.UTF-8', TERM: 'linux' }, false],
    [{ WT_SESSION: 'some-id' }, true],
    [{}, false],
  ])('takes signs beyond ASCII from %j: %s', (env, unicode) => {
    expect(capabilitiesOf(new TinyTerminal(), env).unicode).toBe(unicode);
  });

  it('has colours where the terminal has them and nobody objects', () => {
    expect(capabilitiesOf(new ColourTerminal(), {}).colour).toBe(true);
    expect(capabilitiesOf(new ColourTerminal(), { NO_COLOR: '' }).colour).toBe(true);
    expect(capabilitiesOf(new ColourTerminal(), { NO_COLOR: '1' }).colour).toBe(false);
    expect(capabilitiesOf(new TinyTerminal(), {}).colour).toBe(false);
  });

  it('shows a live view only on a terminal that can move its cursor', () => {
    expect(isLiveTerminal({ isTTY: true }, { TERM: 'xterm' })).toBe(true);
    expect(isLiveTerminal({ isTTY: true }, { TERM: 'dumb' })).toBe(false);
    expect(isLiveTerminal({}, { TERM: 'xterm' })).toBe(false);
  });
});
