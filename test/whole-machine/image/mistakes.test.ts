/** The status file on the image: without dragoman.json, and for each kind of mistake. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { needs } from '../../needs.ts';
import { until } from '../../nspawn/kiosk.ts';
import { inSeconds, LANE } from '../kiosk.ts';
import type { Board } from './board.ts';
import { type BoardFixture, openBoardFixture } from './board-fixture.ts';
import { FILE, LOGIN_LIMIT_MS, provisioning, STATUS } from './kiosk.ts';

const flashable = inject('flashable');
const { missing } = flashable;

type Mistake = readonly [what: string, file: string, change: (good: object) => unknown, named: RegExp];
const MISTAKES: readonly Mistake[] = [
  ['a missing comma', FILE, (good) => JSON.stringify(good).replace(',', ' '), /file_invalid/],
  ['an unknown key', FILE, (good) => ({ ...good, wiffi: {} }), /wiffi/],
  ['a short password of the Wi-Fi', FILE, wifi({ passphrase: 'short' }), /wifi\.passphrase/],
  ['WPA3', FILE, wifi({ passphrase: 'correct horse', security: 'sae' }), /wifi_unsupported/],
  ['an invalid time zone', FILE, (good) => ({ ...good, timeZone: 'Europe/Berlim' }), /timeZone/],
  ['an address without the length of its network', FILE, address('192.168.1.20'), /address\.address/],
  ['an invalid language', FILE, targets('English'), /config\.lanes\[0\]\.targets\[0\]: is "English"/],
  ['an invalid certificate', FILE, (good) => ({ ...good, caPem: 'none' }), /caPem/],
  ['an invalid SSH key', FILE, (good) => ({ ...good, sshKeys: ['ssh-ed25519'] }), /sshKeys/],
  ['the name that Windows makes', 'dragoman.json.txt', (good) => good, /dragoman\.json\.txt/],
];

function wifi(part: object): Mistake[2] {
  return (good) => ({ ...good, wifi: { ssid: 'Museum', country: 'DE', ...part } });
}
function targets(language: string): Mistake[2] {
  return (good) => ({
    ...good,
    config: { ...(good as { config: object }).config, lanes: [{ ...LANE, targets: [language] }] },
  });
}
function address(text: string): Mistake[2] {
  return (good) => ({ ...good, address: { address: text } });
}

describe('mistakes on the card', needs(missing), () => {
  let fixture: BoardFixture;
  let board: Board;
  beforeAll(async () => {
    if (flashable.missing !== null) return;
    fixture = await openBoardFixture(flashable.image, flashable.bundles);
  });
  afterAll(() => fixture?.close());

  it('starts and enlarges its partition without dragoman.json', async ({ annotate }) => {
    const card = fixture.newCard();
    const blank = await fixture.boot(card);
    const took = await until(
      'it is up',
      async () => blank.console().includes('multi-user.target'),
      LOGIN_LIMIT_MS,
    );
    await blank.cutPower();
    await annotate(`up after ${inSeconds(took)}; status: ${card.read(STATUS)?.split('\r\n')[2] ?? 'none'}`);
    expect(card.partition(3).size).toBeGreaterThan(3_000_000_000);
  });

  it('starts with a valid dragoman.json', async ({ annotate }) => {
    const card = fixture.newCard();
    card.write(FILE, JSON.stringify(provisioning(fixture.owner, fixture.sshKey.publicKey)));
    board = await fixture.boot(card);
    await annotate(`login after ${inSeconds(await board.untilLogin(LOGIN_LIMIT_MS))}`);
  });

  it.each(MISTAKES)('names %s', async (_, file, change, named) => {
    const good = provisioning(fixture.owner, fixture.sshKey.publicKey);
    const changed = change(good);
    const text = typeof changed === 'string' ? changed : JSON.stringify(changed);
    await board.sh('rm -f /boot/firmware/dragoman.json*');
    await board.write(`/boot/firmware/${file}`, text);
    await board.run(['systemctl', 'restart', 'dragoman-provision.service']);
    const status = await board.must(['cat', `/boot/firmware/${STATUS}`]);
    expect(status).toMatch(named);
    expect(status).toContain('Nothing was changed.');
    expect(status).not.toContain((good as { secrets: Record<string, string> }).secrets['mqtt-password']);
  });
});
