/** The image on QEMU's `virt`: first start, lasting data, and interpreting. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { needs } from '../../needs.ts';
import { until } from '../../nspawn/kiosk.ts';
import { inSeconds, interpret, inWords, listen, plugCards, ready } from '../kiosk.ts';
import { excuse, watchStrain } from '../slowness.ts';
import { makeTones } from '../tones.ts';
import type { Board } from './board.ts';
import { asFixture, type BoardFixture, openBoardFixture } from './board-fixture.ts';
import type { Card } from './card.ts';
import { CARD_BYTES, FILE, LOGIN_LIMIT_MS, provisioning, STATUS } from './kiosk.ts';
import { likenessOfPhrases } from './phrases.ts';

const flashable = inject('flashable');
const { missing } = flashable;
const TONES_S = 60;
/** Limits (ms), long enough for slow machines, so that only a hang exceeds them. */
const [READY_LIMIT_MS, SAID_LIMIT_MS] = [900_000, 600_000];

describe(`the image on virt${missing === null ? '' : `: skipped, ${missing}`}`, needs(missing), () => {
  let fixture: BoardFixture;
  let [card, board]: [Card | null, Board | null] = [null, null];
  beforeAll(async () => {
    if (flashable.missing !== null) return;
    fixture = await openBoardFixture(flashable.image, flashable.bundles);
  });
  afterAll(() => fixture?.close());

  it('starts with a valid dragoman.json, which lets its owner in', async ({ annotate }) => {
    card = fixture.newCard();
    card.write(FILE, JSON.stringify(provisioning(fixture.owner, fixture.sshKey.publicKey)));
    board = await fixture.boot(card);
    const took = await board.untilLogin(LOGIN_LIMIT_MS);
    await annotate(`login after ${inSeconds(took)}`);
    expect(card.partition(3).start + card.partition(3).size).toBe(CARD_BYTES);
    expect(await board.must(['cat', `/boot/firmware/${STATUS}`])).toContain('Result: applied');
  });

  it('has a read-only root and an enlarged data partition', async () => {
    if (board === null) throw new Error('it does not run');
    const mounts = await board.must(['cat', '/proc/mounts']);
    expect(mounts).toMatch(/^overlay \/ overlay /m);
    expect(mounts).toMatch(/^overlay \/etc overlay /m);
    expect(mounts).toMatch(/^\/dev\/vda3 \/var\/lib\/dragoman ext4 rw/m);
    expect(mounts).not.toMatch(/^\/dev\/vda2 \S+ \S+ rw/m);
    const free = await board.must(['df', '--output=size', '-B1M', '/var/lib/dragoman']);
    expect(Number(free.split('\n')[1])).toBeGreaterThan(2300);
    expect(await board.run(['cat', '/run/dragoman-image/problems'])).toMatchObject({ code: 1 });
  });

  it('keeps logs in memory, limits memory, uses a watchdog, and allows logins only with a key', async () => {
    if (board === null) throw new Error('it does not run');
    expect(await board.must(['cat', '/sys/fs/cgroup/cgroup.controllers'])).toContain('memory');
    expect(await board.must(['systemctl', 'show', '-p', 'RuntimeWatchdogUSec'])).toContain('14s');
    expect((await board.run(['ls', '/var/log/journal'])).code).not.toBe(0);
    expect(await board.must(['sh', '-c', 'ls -d /run/log/journal/*'])).toContain('/run/log/journal/');
    expect(await board.must(['sh', '-c', "awk -F: '$2 !~ /^[!*]/' /etc/shadow"])).toBe('');
    expect(await board.must(['systemctl', '--failed', '--plain', '--no-legend'])).toBe('');
    expect(await board.must(['sshd', '-T'])).toMatch(/^passwordauthentication no$/m);
  });

  it('interprets', async ({ annotate, skip }) => {
    if (board === null || card === null) throw new Error('it does not run');
    const on = asFixture(board, fixture.owner, card);
    const strain = await watchStrain(board);
    const tones = makeTones(TONES_S);
    await board.write(
      '/srv/goods/tones.raw',
      new Uint8Array(tones.buffer, tones.byteOffset, tones.byteLength),
    );
    await plugCards(on);
    const took = await ready(on, READY_LIMIT_MS);
    const { ended } = await interpret(on, 30);
    await annotate(`ready ${inSeconds(took)} after its cards were plugged; ${inWords(ended)}`);
    const judge = (): void => {
      // Here the emulated cards have underruns; test/whole-machine/scenarios judges the completeness of the sound.
      expect(ended.tones.filter((tone) => tone >= 0).length).toBeGreaterThan(40);
      expect(Math.abs(ended.levelDbfs - -15.3)).toBeLessThan(1.5);
      // No tone is out of order. But the kernel's loop card may play on from its ring until a busy machine stops it.
      expect(ended.disorder).toEqual([]);
    };
    try {
      judge();
    } catch (error) {
      const reason = excuse(await strain.measure());
      if (reason === null) throw error;
      skip(`${reason} (${inWords(ended)})`);
    }
  });

  it('announces a mistake in its settings on a free card', async ({ annotate }) => {
    if (board === null || card === null) throw new Error('it does not run');
    const { read, must, run, sh, write } = board;
    // Stops the agent: if it holds the card, it announces the mistake itself after its speech, which never ends here.
    await sh('cp /boot/firmware/dragoman.json /run/good.json; systemctl stop dragoman.service');
    await write('/boot/firmware/dragoman.json', '{"format":1,"wifi":{"ssid":"M","passphrase":"x"}}');
    await run(['systemctl', 'restart', 'dragoman-provision.service']);
    const listening = await listen(asFixture(board, fixture.owner, card));
    await run(['systemctl', 'restart', 'dragoman-boot-report.service']);
    await until(
      'the status names the card',
      async () => /Announced on .*CARD=Speaker/.test(await must(['cat', `/boot/firmware/${STATUS}`])),
      SAID_LIMIT_MS,
    );
    const { samples } = await listening.end();
    const codes = ['file_invalid', 'file_unreadable', 'no_microphone', 'service_down', 'ready'];
    const found = await likenessOfPhrases({ read }, samples, codes);
    await annotate(`similarity of the sound with each phrase: ${JSON.stringify(found)}`);
    const [[first, best] = ['', 0], [, next] = ['', 0]] = found;
    expect(first).toBe('file_invalid');
    expect(best - next).toBeGreaterThan(0.1);
    await sh('cp /run/good.json /boot/firmware/dragoman.json');
    await run(['systemctl', 'restart', 'dragoman-provision.service']);
  });

  it('keeps its identity after a power cut, and has no secrets on the boot partition', async ({
    annotate,
  }) => {
    if (board === null || card === null) throw new Error('it does not run');
    const before = await identity(board);
    await board.cutPower();
    const password = (provisioning(fixture.owner, '') as { secrets: { 'mqtt-password': string } }).secrets;
    expect(card.read(FILE)).not.toContain(password['mqtt-password']);
    board = await fixture.boot(card);
    await annotate(`login after ${inSeconds(await board.untilLogin(LOGIN_LIMIT_MS))}`);
    expect(await identity(board)).toEqual(before);
    await plugCards(asFixture(board, fixture.owner, card));
    await ready(asFixture(board, fixture.owner, card), READY_LIMIT_MS);
    await board.cutPower();
    expect(card.checkData()).toContain('dragoman-data: ');
  });
});

async function identity(board: Board): Promise<string[]> {
  return [
    await board.must(['cat', '/etc/machine-id']),
    await board.must(['cat', '/etc/ssh/ssh_host_ed25519_key.pub']),
    await board.must(['readlink', '/etc/localtime']),
  ];
}
