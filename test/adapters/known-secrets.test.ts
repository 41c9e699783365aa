import { describe, expect, it } from 'vitest';
import { createKnownSecrets, hideAll, shortId } from '../../src/adapters/known-secrets.ts';
import { REDACTED } from '../../src/adapters/redaction.ts';
import { ANY_CHARACTER, fc } from '../properties.ts';

const TOKEN = 'tok/A+b 0123456789';
const SESSION = '7f3c9a52-Session-0123456789';

function known() {
  const secrets = createKnownSecrets(4);
  secrets.addToken(TOKEN);
  secrets.addSession(SESSION);
  return secrets;
}

describe('a text from a peer that knows a secret of ours', () => {
  it.each([
    [`no ${TOKEN}, ${TOKEN}!`, `no ${REDACTED}, ${REDACTED}!`],
    [`session ${SESSION} is over`, 'session 7f3c9a52... is over'],
    [`${SESSION}${SESSION}`, '7f3c9a52...7f3c9a52...'],
    [`session ${SESSION.toUpperCase()} is over`, 'session 7f3c9a52... is over'],
    [`?token=${encodeURIComponent(TOKEN)}&x`, `?token=${REDACTED}&x`],
    ['session 7f3c9a52... is over', 'session 7f3c9a52... is over'],
    ['a session is over', 'a session is over'],
    ['', ''],
  ])('%s', (text, shown) => {
    expect(known().hide(text)).toBe(shown);
  });

  it('does not show the beginning of a secret when the text is cut there', () => {
    const secrets = known();
    for (let length = 0; length <= SESSION.length; length++) {
      const shown = secrets.hide(`it is ${SESSION.slice(0, length)}`);
      expect(shown).toBe(length <= 8 ? `it is ${SESSION.slice(0, length)}` : 'it is 7f3c9a52...');
    }
    expect(secrets.hide(`not ${TOKEN.slice(0, 7)}`)).toBe(`not ${REDACTED}`);
  });

  it.each([1024, 1025, 8192, 60_000])(
    'does not show a secret of %i characters, whatever they are',
    (length) => {
      for (const sign of ['a', '.', '(', ' ', '\u{1f600}']) {
        const secrets = createKnownSecrets(4);
        const token = `t${sign.repeat(length)}`.slice(0, length);
        secrets.addToken(token);
        expect(secrets.hide(`no ${token}`)).toBe(`no ${REDACTED}`);
        expect(secrets.hide('a token')).toBe('a token');
      }
    },
  );

  it('replaces a complete secret that ends with the beginning of another', () => {
    const secrets = known();
    secrets.addSession('other-7f3c9a52-S');
    expect(secrets.hide('no other-7f3c9a52-S')).toBe('no other-7f...');
  });

  it('does not show any secret, in any surroundings and any order of adding', () => {
    const word = fc.constantFrom(...'aA0-%+/ '.split(''));
    const secret = fc.array(word, { minLength: 6, maxLength: 10 }).map((signs) => signs.join(''));
    void fc.assert(
      fc.property(fc.uniqueArray(secret, { minLength: 1, maxLength: 4 }), fc.string(), (tokens, between) => {
        const hidden = hideAll(tokens.map((token) => between + token).join(between), tokens);
        for (const token of tokens) expect(hidden).not.toContain(token);
      }),
    );
  });

  it('does not show a secret with any characters', () => {
    const any = fc.string({ unit: ANY_CHARACTER, minLength: 6, maxLength: 20 });
    void fc.assert(
      fc.property(
        fc.oneof(
          any,
          any.map((text) => `${text}\ud800`),
        ),
        (secret) => {
          expect(hideAll(`a ${secret} b`, [secret])).toBe(`a ${REDACTED} b`);
        },
      ),
    );
  });

  it('is unchanged by texts that are too short for a secret', () => {
    const secrets = createKnownSecrets(4);
    secrets.addToken('abcde');
    secrets.addSession('12345');
    expect(secrets.hide('abcde 12345')).toBe('abcde 12345');
  });

  it('is searched for the last secrets only, including one that was added again', () => {
    const secrets = createKnownSecrets(2);
    for (const token of ['first1', 'second', 'first1', 'third3']) secrets.addToken(token);
    expect(secrets.hide('first1 second third3')).toBe(`${REDACTED} second ${REDACTED}`);
  });
});

it('shows at most half of a short id', () => {
  expect([shortId('a'), shortId('abcdef'), shortId(SESSION)]).toEqual(['...', 'abc...', '7f3c9a52...']);
});
