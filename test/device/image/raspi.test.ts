/** The image on QEMU's Raspberry Pi 3, with the board's own device tree and its card reader. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { until } from '../../nspawn/kiosk.ts';
import { inSeconds, statusOf } from '../kiosk.ts';
import type { Board } from './board.ts';
import { asBench, type BoardBench, openBoardBench } from './board-bench.ts';
import { CARD_BYTES, FILE, LOGIN_LIMIT_MS, provisioning } from './kiosk.ts';

const flashable = inject('flashable');
const { missing } = flashable;

describe.skipIf(missing !== null)('the image on a Raspberry Pi 3', () => {
  let bench: BoardBench;
  let board: Board;
  beforeAll(async () => {
    if (flashable.missing !== null) return;
    bench = await openBoardBench(flashable.image, flashable.bundles);
  });
  afterAll(() => bench?.close());

  it('starts with a good dragoman.json, and reaches its broker', async ({ annotate }) => {
    const card = bench.newCard();
    card.write(FILE, JSON.stringify(provisioning(bench.owner, bench.sshKey.publicKey)));
    board = await bench.boot(card, 'raspi3b');
    const took = await board.untilLogin(LOGIN_LIMIT_MS).catch((error) => {
      process.stderr.write(`${board.console().slice(-6000)}\n`);
      throw error;
    });
    const told = await until(
      'it has told its status',
      async () => /^(degraded|ready|idle)$/.test(statusOf(asBench(board, bench.owner, card))),
      240_000,
    );
    await annotate(`login after ${inSeconds(took)}, at its broker ${inSeconds(told)} later`);
    expect(card.partition(3).start + card.partition(3).size).toBe(CARD_BYTES);
    expect(await board.must(['cat', '/proc/device-tree/model'])).toContain('Raspberry Pi 3');
    expect(await board.must(['cat', '/proc/mounts'])).toMatch(
      /^\/dev\/mmcblk\dp3 \/var\/lib\/dragoman ext4 rw/m,
    );
  });
});
