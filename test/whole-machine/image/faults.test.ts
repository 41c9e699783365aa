/** Faults of a card: power cuts at the first start, a missing, full or damaged data partition, a read-only card. */
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { needs } from '../../needs.ts';
import { inSeconds, wait } from '../kiosk.ts';
import { type BoardFixture, openBoardFixture } from './board-fixture.ts';
import type { Card } from './card.ts';
import { CARD_BYTES, FILE, LOGIN_LIMIT_MS, provisioning, STATUS } from './kiosk.ts';

const flashable = inject('flashable');
const { missing } = flashable;
/** Moments of the first start (s after power-on): kernel, root, growing partition, provisioning, keys, agent. */
const CUTS = [6, 10, 14, 18, 22, 27, 33, 40, 48, 58];
const MIB = 2 ** 20;
/** Length that covers the superblock and its copy at 128 MiB (bytes). */
const BEYOND_REPAIR = 160 * MIB;

describe('a card with a fault', needs(missing), () => {
  let fixture: BoardFixture;
  beforeAll(async () => {
    if (flashable.missing !== null) return;
    fixture = await openBoardFixture(flashable.image, flashable.bundles);
  });
  afterAll(() => fixture?.close());

  const good = () => provisioning(fixture.owner, fixture.sshKey.publicKey);
  const prepared = (): Card => {
    const card = fixture.newCard();
    card.write(FILE, JSON.stringify(good()));
    return card;
  };
  let started: { readonly card: Card; readonly machineId: string } | null = null;
  /** A copy of a card after one start and a power cut. */
  const startedOnce = async () => {
    if (started === null) {
      const card = prepared();
      const board = await fixture.boot(card);
      await board.untilLogin(LOGIN_LIMIT_MS);
      const machineId = await board.must(['cat', '/etc/machine-id']);
      await board.sh('sync');
      await board.cutPower();
      started = { card, machineId };
    }
    return { card: fixture.copy(started.card), machineId: started.machineId };
  };
  /** Zeros over the beginning of the third partition, or its entry in the table. */
  const zero = (card: Card, at: number, bytes: number) =>
    execFileSync('dd', [
      'if=/dev/zero',
      `of=${card.file}`,
      'bs=512',
      `seek=${at / 512}`,
      `count=${bytes / 512}`,
      'conv=notrunc',
      'status=none',
    ]);

  it('gets a third partition when it has none', async ({ annotate }) => {
    const card = prepared();
    const table = Buffer.alloc(16);
    execFileSync('dd', [`of=${card.file}`, 'bs=1', 'seek=478', 'conv=notrunc', 'status=none'], {
      input: table,
    });
    zero(card, 0 + endOfRoot(card), 4 * MIB);
    const board = await fixture.boot(card);
    await annotate(`login after ${inSeconds(await board.untilLogin(LOGIN_LIMIT_MS))}`);
    expect(card.partition(3).start + card.partition(3).size).toBe(CARD_BYTES);
    expect(await board.must(['cat', `/boot/firmware/${STATUS}`])).not.toContain('The card');
    await board.cutPower();
    expect(card.checkData()).toContain('dragoman-data: ');
  });

  it('is repaired and keeps its data when the beginning of the third partition is destroyed', async ({
    annotate,
  }) => {
    const { card, machineId } = await startedOnce();
    zero(card, card.partition(3).start, 4096);
    const board = await fixture.boot(card);
    await annotate(`login after ${inSeconds(await board.untilLogin(LOGIN_LIMIT_MS))}`);
    expect(await board.must(['cat', '/etc/machine-id'])).toBe(machineId);
    await board.cutPower();
  });

  it('lets its owner in and names the lost secrets when the third partition is destroyed', async ({
    annotate,
  }) => {
    const { card } = await startedOnce();
    expect(card.read(FILE)).toContain('"mqtt-password": null');
    zero(card, card.partition(3).start, BEYOND_REPAIR);
    const board = await fixture.boot(card);
    await annotate(`login after ${inSeconds(await board.untilLogin(LOGIN_LIMIT_MS))}`);
    const status = () => board.must(['cat', `/boot/firmware/${STATUS}`]);
    expect(await status()).toContain('Result: secrets_missing.');
    expect(await status()).toContain('- secrets.mqtt-password: was removed from the file');
    expect(await board.must(['readlink', '/etc/localtime'])).toContain('Europe/Berlin');
    await board.write(`/boot/firmware/${FILE}`, JSON.stringify(good()));
    await board.run(['systemctl', 'restart', 'dragoman-provision.service']);
    expect(await status()).toContain('Result: applied.');
    await board.sh('sync');
    await board.cutPower();
    expect(card.read(FILE)).toContain('"mqtt-password": null');
    expect(card.checkData()).toContain('dragoman-data: ');
  });

  it('starts and lets its owner in when the data partition is full', async ({ annotate }) => {
    const { card } = await startedOnce();
    const board = await fixture.boot(card);
    await board.untilLogin(LOGIN_LIMIT_MS);
    await board.sh('dd if=/dev/zero of=/var/lib/dragoman/full bs=1M 2>/dev/null || true; sync');
    await board.cutPower();
    const again = await fixture.boot(card);
    await annotate(`login after ${inSeconds(await again.untilLogin(LOGIN_LIMIT_MS))}`);
    expect(await again.must(['systemctl', 'show', '-p', 'ActiveState', 'dragoman'])).toContain('activ');
    await again.sh('rm /var/lib/dragoman/full');
    await again.cutPower();
  });

  it('keeps working with its settings, and reports it, when it is read-only', async ({ annotate }) => {
    const { card, machineId } = await startedOnce();
    const board = await fixture.boot(card, 'virt', 'worn');
    await annotate(`login after ${inSeconds(await board.untilLogin(LOGIN_LIMIT_MS))}`);
    expect(await board.must(['cat', '/etc/machine-id'])).toBe(machineId);
    expect(await board.must(['cat', '/run/dragoman-image/problems'])).toContain('It can only be read');
    expect(await board.must(['cat', '/run/dragoman/provisioning.json'])).toContain(
      'The card: It can only be read',
    );
    await board.cutPower();
  });

  describe('after a power cut in its first start', () => {
    const cut = new Map<number, Card>();

    it('keeps copies of ten moments', async () => {
      const card = prepared();
      const board = await fixture.boot(card);
      for (const second of CUTS) {
        await wait(second * 1000 - (performance.now() - board.startedAt));
        // The present content of the card is what a power cut would leave.
        await board.monitor('stop');
        cut.set(second, fixture.copy(card));
        await board.monitor('cont');
      }
      await board.cutPower();
    });

    it.for(CUTS)('starts when the cut was after %d s', async (second, { annotate }) => {
      const card = cut.get(second);
      if (card === undefined) throw new Error('there is no copy of this moment');
      const board = await fixture.boot(card);
      await annotate(`login after ${inSeconds(await board.untilLogin(LOGIN_LIMIT_MS))}`);
      const told = await board.must([
        'sh',
        '-c',
        'cat /boot/firmware/dragoman-status.txt /etc/machine-id; test ! -e /run/dragoman-image/problems',
      ]);
      expect(told).toMatch(/Result: (applied|unchanged)/);
      expect(told).toMatch(/^[0-9a-f]{32}$/m);
      expect(await board.must(['systemctl', '--failed', '--plain', '--no-legend'])).toBe('');
      await board.cutPower();
      expect(card.partition(3).start + card.partition(3).size).toBe(CARD_BYTES);
      expect(card.checkData()).toContain('dragoman-data: ');
    });
  });
});

const endOfRoot = (card: Card): number => card.partition(2).start + card.partition(2).size;
