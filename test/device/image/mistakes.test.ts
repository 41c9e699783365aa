/** What the status file names, on the image: nothing to read, and each kind of mistake. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { until } from '../../nspawn/kiosk.ts';
import { inSeconds, LANE } from '../kiosk.ts';
import type { Board } from './board.ts';
import { type BoardFixture, openBoardFixture } from './board-fixture.ts';
import { FILE, LOGIN_LIMIT_MS, provisioning, STATUS } from './kiosk.ts';

const flashable = inject('flashable');
const { missing } = flashable;

type Mistake = readonly [what: string, file: string, change: (good: object) => unknown, named: RegExp];
const MISTAKES: readonly Mistake[] = [
  ['a comma too few', FILE, (good) => JSON.stringify(good).replace(',', ' '), /file_invalid/],
  ['a key that is none', FILE, (good) => ({ ...good, wiffi: {} }), /wiffi/],
  ['a short password of the Wi-Fi', FILE, wifi({ passphrase: 'short' }), /wifi\.passphrase/],
  ['WPA3', FILE, wifi({ passphrase: 'correct horse', security: 'sae' }), /wifi_unsupported/],
  ['a time zone that is none', FILE, (good) => ({ ...good, timeZone: 'Europe/Berlim' }), /timeZone/],
  ['an address without the length of its network', FILE, address('192.168.1.20'), /address\.address/],
  ['a language that is none', FILE, targets('English'), /config\.lanes\[0\]\.targets\[0\]: is "English"/],
  ['a certificate that is none', FILE, (good) => ({ ...good, caPem: 'none' }), /caPem/],
  ['a login that is no key', FILE, (good) => ({ ...good, sshKeys: ['ssh-ed25519'] }), /sshKeys/],
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

describe.skipIf(missing !== null)('mistakes on the card', () => {
  let fixture: BoardFixture;
  let board: Board;
  beforeAll(async () => {
    if (flashable.missing !== null) return;
    fixture = await openBoardFixture(flashable.image, flashable.bundles);
  });
  afterAll(() => fixture?.close());

  it('without dragoman.json it starts and grows', async ({ annotate }) => {
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

  it('starts with a good one', async ({ annotate }) => {
    const card = fixture.newCard();
    card.write(FILE, JSON.stringify(provisioning(fixture.owner, fixture.sshKey.publicKey)));
    board = await fixture.boot(card);
    await annotate(`login after ${inSeconds(await board.untilLogin(LOGIN_LIMIT_MS))}`);
  });

  it.each(MISTAKES)('%s is named', async (_, file, change, named) => {
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
