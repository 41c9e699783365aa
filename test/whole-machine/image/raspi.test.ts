/** The image on QEMU's Raspberry Pi 3, with the board's own device tree and its card reader. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { needs } from '../../needs.ts';
import { until } from '../../nspawn/kiosk.ts';
import { inSeconds, statusOf } from '../kiosk.ts';
import type { Board } from './board.ts';
import { asFixture, type BoardFixture, openBoardFixture } from './board-fixture.ts';
import { CARD_BYTES, FILE, LOGIN_LIMIT_MS, provisioning } from './kiosk.ts';

const flashable = inject('flashable');
const { missing } = flashable;

describe('the image on a Raspberry Pi 3', needs(missing), () => {
  let fixture: BoardFixture;
  let board: Board;
  beforeAll(async () => {
    if (flashable.missing !== null) return;
    fixture = await openBoardFixture(flashable.image, flashable.bundles);
  });
  afterAll(() => fixture?.close());

  it('starts with a valid dragoman.json, and reaches its broker', async ({ annotate }) => {
    const card = fixture.newCard();
    card.write(FILE, JSON.stringify(provisioning(fixture.owner, fixture.sshKey.publicKey)));
    board = await fixture.boot(card, 'raspi3b');
    const took = await board.untilLogin(LOGIN_LIMIT_MS);
    const told = await until(
      'it has published its status',
      async () => /^(degraded|ready|idle)$/.test(statusOf(asFixture(board, fixture.owner, card))),
      600_000,
    );
    await annotate(`login after ${inSeconds(took)}, at its broker ${inSeconds(told)} later`);
    expect(card.partition(3).start + card.partition(3).size).toBe(CARD_BYTES);
    expect(await board.must(['cat', '/proc/device-tree/model'])).toContain('Raspberry Pi 3');
    expect(await board.must(['cat', '/proc/mounts'])).toMatch(
      /^\/dev\/mmcblk\dp3 \/var\/lib\/dragoman ext4 rw/m,
    );
  });
});
